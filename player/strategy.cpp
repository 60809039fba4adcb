#include "player/strategy.h"

#include <algorithm>
#include <array>

namespace league::player {

namespace {

Parity other(Parity parity) { return parity == Parity::kEven ? Parity::kOdd : Parity::kEven; }

Parity toss(core::RandomSource& random) {
  return random.bytes<1>()[0] % 2 == 0 ? Parity::kEven : Parity::kOdd;
}

/// Even or odd, whatever comes.
class Random final : public Strategy {
 public:
  explicit Random(core::RandomSource& random) : random_(random) {}
  Parity choose(const ChoiceContext&) const override { return toss(random_); }

 private:
  core::RandomSource& random_;
};

class Constant final : public Strategy {
 public:
  explicit Constant(Parity parity) : parity_(parity) {}
  Parity choose(const ChoiceContext&) const override { return parity_; }

 private:
  Parity parity_;
};

/// The other one than last time; even at first.
class Alternate final : public Strategy {
 public:
  Parity choose(const ChoiceContext& context) const override {
    const auto own = context.history.own_choices(context.league_id);
    return own.empty() ? Parity::kEven : other(own.back());
  }
};

/// What was drawn more often. It believes in luck: draws are independent.
class Frequency final : public Strategy {
 public:
  explicit Frequency(core::RandomSource& random) : random_(random) {}
  Parity choose(const ChoiceContext& context) const override {
    const auto numbers = context.history.drawn_numbers(context.league_id);
    const auto even = std::ranges::count_if(numbers, [](int number) { return number % 2 == 0; });
    const auto odd = std::ssize(numbers) - even;
    if (even == odd) return toss(random_);
    return even > odd ? Parity::kEven : Parity::kOdd;
  }

 private:
  core::RandomSource& random_;
};

/// The other one than the opponent's next choice. Nobody can foresee the number, but two different
/// choices give 3 points to one of the two and equal choices give 1 to each: 1.5 points on average
/// against 1.
class Opposite final : public Strategy {
 public:
  explicit Opposite(core::RandomSource& random) : random_(random) {}
  Parity choose(const ChoiceContext& context) const override {
    const auto next =
        predict_next(context.history.choices_of(context.league_id, context.opponent_id));
    return next ? other(*next) : toss(random_);
  }

 private:
  core::RandomSource& random_;
};

using Make = std::unique_ptr<Strategy> (*)(core::RandomSource&);
struct NamedStrategy {
  std::string_view name;
  Make make;
};

/// The one list of strategies. A new one is one more line here.
constexpr std::array<NamedStrategy, 6> kStrategies = {{
    {"random",
     [](auto& random) -> std::unique_ptr<Strategy> { return std::make_unique<Random>(random); }},
    {"even",
     [](auto&) -> std::unique_ptr<Strategy> { return std::make_unique<Constant>(Parity::kEven); }},
    {"odd",
     [](auto&) -> std::unique_ptr<Strategy> { return std::make_unique<Constant>(Parity::kOdd); }},
    {"alternate", [](auto&) -> std::unique_ptr<Strategy> { return std::make_unique<Alternate>(); }},
    {"frequency",
     [](auto& random) -> std::unique_ptr<Strategy> { return std::make_unique<Frequency>(random); }},
    {"opposite",
     [](auto& random) -> std::unique_ptr<Strategy> { return std::make_unique<Opposite>(random); }},
}};

}  // namespace

std::optional<Parity> predict_next(const std::vector<Parity>& choices) {
  if (choices.empty()) return std::nullopt;
  const bool alternates = std::ranges::adjacent_find(choices) == choices.end();
  if (choices.size() >= 2 && alternates) return other(choices.back());
  const auto even = std::ranges::count(choices, Parity::kEven);
  const auto odd = std::ssize(choices) - even;
  if (even == odd) return std::nullopt;
  return even > odd ? Parity::kEven : Parity::kOdd;
}

core::Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name,
                                                      core::RandomSource& random) {
  std::string known;
  for (const NamedStrategy& entry : kStrategies) {
    if (entry.name == name) return entry.make(random);
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  return core::Error{
      core::ErrorCode::kInvalidFieldValue,
      "strategy \"" + std::string(name.substr(0, 64)) + "\" is unknown; known are: " + known + ".",
      "/strategy"};
}

std::vector<std::string_view> known_strategies() {
  std::vector<std::string_view> names;
  for (const NamedStrategy& entry : kStrategies) names.push_back(entry.name);
  return names;
}

}  // namespace league::player
