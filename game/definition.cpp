#include "game/definition.h"

#include <algorithm>

#include "common/core/text.h"

namespace league::game {

namespace {

/// What happened to the drawn number, as people say it.
std::string words_on_number(int number, std::string_view kind, const PerSide<bool>& is_right) {
  std::string text = "The number is " + std::to_string(number) + ", which is " + std::string(kind);
  if (is_right[Side::kA] && is_right[Side::kB]) return text + ": both players are right.";
  if (is_right[Side::kA]) return text + ": only player A is right.";
  if (is_right[Side::kB]) return text + ": only player B is right.";
  return text + ": both players are wrong.";
}

std::string words_on_points(const Choices& choices, const PerSide<int>& points, Outcome outcome) {
  std::string text = choices[Side::kA] + " against " + choices[Side::kB] + " gives " +
                     std::to_string(points[Side::kA]) + " and " + std::to_string(points[Side::kB]) +
                     " points: ";
  const auto winner = winner_of(outcome);
  if (!winner) return text + "a draw.";
  return text + "player " + (*winner == Side::kA ? "A" : "B") + " wins.";
}

Outcome outcome_of_points(const PerSide<int>& points) {
  if (points[Side::kA] > points[Side::kB]) return Outcome::kPlayerAWins;
  if (points[Side::kA] < points[Side::kB]) return Outcome::kPlayerBWins;
  return Outcome::kDraw;
}

}  // namespace

std::optional<NumberRange> Definition::numbers() const {
  if (kinds_.empty()) return std::nullopt;
  return NumberRange{1, static_cast<int>(kinds_.size())};
}

std::optional<std::string_view> Definition::kind_of(int number) const {
  const auto range = numbers();
  if (!range || !range->contains(number)) return std::nullopt;
  return choices_[kind_index(number)];
}

std::size_t Definition::kind_index(std::optional<int> number) const {
  return number ? kinds_[static_cast<std::size_t>(*number - 1)] : 0;
}

double Definition::expected_payoff(Side side, std::size_t own, std::size_t other) const {
  if (kinds_.empty()) return payoff(side, own, other, 0);
  double sum = 0;
  for (const std::size_t kind : kinds_) sum += payoff(side, own, other, kind);
  return sum / static_cast<double>(kinds_.size());
}

PerSide<int> Definition::payoffs(const Choices& choices, std::optional<int> number) const {
  const std::size_t kind = kind_index(number);
  const std::size_t a = *index_of(choices[Side::kA]);
  const std::size_t b = *index_of(choices[Side::kB]);
  return {{payoff(Side::kA, a, b, kind), payoff(Side::kB, b, a, kind)}};
}

Decision Definition::decide(const Choices& choices, std::optional<int> number) const {
  const PerSide<int> points = payoffs(choices, number);
  const Outcome outcome = outcome_of_points(points);
  if (!number) return {outcome, words_on_points(choices, points, outcome)};
  const std::string_view kind = *kind_of(*number);
  const PerSide<bool> is_right{{choices[Side::kA] == kind, choices[Side::kB] == kind}};
  // Usually who is right wins; a game in which it does not says its points as well.
  const Outcome by_right = outcome_of_points({{int{is_right[Side::kA]}, int{is_right[Side::kB]}}});
  std::string reason = words_on_number(*number, kind, is_right);
  if (outcome != by_right) reason += ' ' + words_on_points(choices, points, outcome);
  return {outcome, std::move(reason)};
}

PerSide<int> Definition::technical_points(Outcome outcome) const {
  const auto winner = winner_of(outcome);
  if (!winner) return {{technical_.both, technical_.both}};
  PerSide<int> points;
  points[*winner] = technical_.winner;
  points[other(*winner)] = technical_.loser;
  return points;
}

std::optional<Outcome> Definition::outcome_of(const PerSide<int>& score, bool is_technical) const {
  const auto technical = [&]() -> std::optional<Outcome> {
    for (Outcome one : {Outcome::kPlayerAWins, Outcome::kPlayerBWins, Outcome::kNoWinner}) {
      if (technical_points(one) == score) return one;
    }
    return std::nullopt;
  }();
  if (technical && is_technical) return technical;
  const std::size_t words = choices_.size();
  for (std::size_t place = 0; place < payoffs_[Side::kA].size(); ++place) {
    const std::size_t kind = place / words / words;
    const std::size_t a = place / words % words;
    const std::size_t b = place % words;
    if (payoff(Side::kA, a, b, kind) == score[Side::kA] &&
        payoff(Side::kB, b, a, kind) == score[Side::kB])
      return outcome_of_points(score);
  }
  return technical;
}

int Definition::highest_payoff() const {
  return std::max(*std::ranges::max_element(payoffs_[Side::kA]),
                  *std::ranges::max_element(payoffs_[Side::kB]));
}

std::optional<std::string_view> Definition::choice_like(std::string_view text) const {
  if (const auto place = index_of(text)) return choices_[*place];
  const std::string typed = core::lower_case(text);
  std::optional<std::string_view> found;
  bool is_unique = true;
  for (const std::string& choice : choices_) {
    const std::string word = core::lower_case(choice);
    if (word == typed) return choice;
    if (typed.empty() || !word.starts_with(typed)) continue;
    is_unique = !found;
    found = choice;
  }
  return is_unique ? found : std::nullopt;
}

std::optional<std::size_t> Definition::index_of(std::string_view choice) const {
  const auto found = std::ranges::find(choices_, choice);
  if (found == choices_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - choices_.begin());
}

core::Result<void> Definition::check_choice(std::string_view choice) const {
  if (index_of(choice)) return {};
  std::string words;
  for (const std::string& word : choices_) {
    words += (words.empty() ? "\"" : " or \"") + word + '"';
  }
  return core::Error{core::ErrorCode::kInvalidParityChoice,
                     "parity_choice is \"" + core::shown(choice) + "\"; it must be exactly " +
                         words + ", spelled like this. Send one of these words.",
                     "/parity_choice"};
}

}  // namespace league::game
