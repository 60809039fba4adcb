#include "player/core/strategy.h"

#include <algorithm>
#include <array>

namespace league::player {

namespace {

using game::Rules;
using Words = std::vector<std::string_view>;

Words all_words(const Rules& rules) { return {rules.choices().begin(), rules.choices().end()}; }

/// One of `words`, each equally likely; there are 1 to 256.
std::string_view any_of(const Words& words, core::RandomSource& random) {
  if (words.size() == 1) return words.front();
  const std::size_t bound = 256 - 256 % words.size();
  for (;;) {
    const std::size_t byte = random.bytes<1>()[0];
    if (byte < bound) return words[byte % words.size()];
  }
}

/// The choice that follows `index` in the order of the game; the first one follows the last.
std::string_view word_after(const Rules& rules, std::size_t index) {
  return rules.choices()[(index + 1) % rules.choices().size()];
}

/// How often each choice of the game occurs among `words`; other words are not counted.
template <typename Container>
std::vector<int> count_words(const Rules& rules, const Container& words) {
  std::vector<int> counts(rules.choices().size());
  for (const auto& word : words) {
    if (const auto index = rules.index_of(word)) ++counts[*index];
  }
  return counts;
}

/// The choices that occur most often; all choices if none occurs.
Words most_frequent(const Rules& rules, const std::vector<int>& counts) {
  const int highest = *std::ranges::max_element(counts);
  Words words;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == highest) words.push_back(rules.choices()[i]);
  }
  return words;
}

/// A random choice.
class Random final : public Strategy {
 public:
  Random(const Rules& rules, core::RandomSource& random) : rules_(rules), random_(random) {}
  [[nodiscard]] std::string_view choose(const StrategyInput& /*context*/) const override {
    return any_of(all_words(rules_), random_);
  }

 private:
  const Rules& rules_;
  core::RandomSource& random_;
};

class Constant final : public Strategy {
 public:
  explicit Constant(std::string_view word) : word_(word) {}
  [[nodiscard]] std::string_view choose(const StrategyInput& /*context*/) const override {
    return word_;
  }

 private:
  std::string_view word_;
};

/// The choice that follows the previous one; the game's first choice at the beginning.
class Alternate final : public Strategy {
 public:
  explicit Alternate(const Rules& rules) : rules_(rules) {}
  [[nodiscard]] std::string_view choose(const StrategyInput& context) const override {
    const auto own = context.history.own_choices(context.league_id);
    const auto last = own.empty() ? std::nullopt : rules_.index_of(own.back());
    return last ? word_after(rules_, *last) : rules_.choices().front();
  }

 private:
  const Rules& rules_;
};

/// The choice that was drawn more often. It has no effect in theory, since draws are independent.
class Frequency final : public Strategy {
 public:
  Frequency(const Rules& rules, core::RandomSource& random) : rules_(rules), random_(random) {}
  [[nodiscard]] std::string_view choose(const StrategyInput& context) const override {
    Words kinds;
    for (int number : context.history.drawn_numbers(context.league_id)) {
      if (const auto kind = rules_.kind_of(number)) kinds.push_back(*kind);
    }
    return any_of(most_frequent(rules_, count_words(rules_, kinds)), random_);
  }

 private:
  const Rules& rules_;
  core::RandomSource& random_;
};

/// A choice that differs from the opponent's predicted one. Nobody can foresee the number, but in
/// Even/Odd two different choices give 3 points to one of the two and equal choices give 1 to each:
/// 1.5 points on average against 1.
class Opposite final : public Strategy {
 public:
  Opposite(const Rules& rules, core::RandomSource& random) : rules_(rules), random_(random) {}
  [[nodiscard]] std::string_view choose(const StrategyInput& context) const override {
    Words words = all_words(rules_);
    const auto theirs = context.history.choices_of(context.league_id, context.opponent_id);
    if (const auto next = predict_next(rules_, theirs)) std::erase(words, *next);
    return any_of(words, random_);
  }

 private:
  const Rules& rules_;
  core::RandomSource& random_;
};

using Make = std::unique_ptr<Strategy> (*)(const Rules&, core::RandomSource&);
struct NamedStrategy {
  std::string_view name;
  Make make;
};

/// All strategies except the constant ones, which are the choices of a game. To add a strategy, add
/// a line.
constexpr std::array<NamedStrategy, 4> kStrategies = {{
    {"random",
     [](auto& rules, auto& random) -> std::unique_ptr<Strategy> {
       return std::make_unique<Random>(rules, random);
     }},
    {"alternate",
     [](auto& rules, auto&) -> std::unique_ptr<Strategy> {
       return std::make_unique<Alternate>(rules);
     }},
    {"frequency",
     [](auto& rules, auto& random) -> std::unique_ptr<Strategy> {
       return std::make_unique<Frequency>(rules, random);
     }},
    {"opposite",
     [](auto& rules, auto& random) -> std::unique_ptr<Strategy> {
       return std::make_unique<Opposite>(rules, random);
     }},
}};

/// Whether each choice is the one that follows the choice before it.
bool goes_in_order(const Rules& rules, const std::vector<std::string_view>& choices) {
  return std::ranges::adjacent_find(choices, [&](const auto& before, const auto& after) {
           const auto index = rules.index_of(before);
           return !index || word_after(rules, *index) != after;
         }) == choices.end();
}

}  // namespace

std::optional<std::string_view> predict_next(const Rules& rules,
                                             const std::vector<std::string_view>& choices) {
  if (choices.empty()) return std::nullopt;
  const auto last = rules.index_of(choices.back());
  if (choices.size() >= 2 && last && goes_in_order(rules, choices)) return word_after(rules, *last);
  const Words likely = most_frequent(rules, count_words(rules, choices));
  if (likely.size() != 1) return std::nullopt;
  return likely.front();
}

core::Result<std::unique_ptr<Strategy>> make_strategy(std::string_view name, const Rules& rules,
                                                      core::RandomSource& random) {
  for (const NamedStrategy& entry : kStrategies) {
    if (entry.name == name) return entry.make(rules, random);
  }
  if (const auto index = rules.index_of(name)) {
    return std::unique_ptr<Strategy>(std::make_unique<Constant>(rules.choices()[*index]));
  }
  std::string known;
  for (std::string_view one : known_strategies(rules)) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return core::Error{
      core::ErrorCode::kInvalidFieldValue,
      "strategy \"" + std::string(name.substr(0, 64)) + "\" is unknown; known are: " + known + ".",
      "/strategy"};
}

std::vector<std::string_view> known_strategies(const Rules& rules) {
  std::vector<std::string_view> names;
  for (const NamedStrategy& entry : kStrategies) names.push_back(entry.name);
  names.insert(names.begin() + 1, rules.choices().begin(), rules.choices().end());
  return names;
}

std::vector<std::string_view> known_strategies() {
  const auto& games = game::standard_games();
  return known_strategies(**games.find(games.names().front()));
}

}  // namespace league::player
