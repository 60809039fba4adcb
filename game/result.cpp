#include "game/result.h"

namespace league::game {

namespace {

/// The first payoffs with this outcome; in Even/Odd there are no others.
PerSide<int> usual_points(const Definition& rules, Outcome outcome) {
  const std::size_t words = rules.choices().size();
  const std::size_t kinds = rules.numbers() ? words : 1;
  for (std::size_t place = 0; place < kinds * words * words; ++place) {
    const std::size_t kind = place / words / words;
    const std::size_t a = place / words % words;
    const std::size_t b = place % words;
    const int of_a = rules.payoff(Side::kA, a, b, kind);
    const int of_b = rules.payoff(Side::kB, b, a, kind);
    const Outcome shown = of_a > of_b   ? Outcome::kPlayerAWins
                          : of_a < of_b ? Outcome::kPlayerBWins
                                        : Outcome::kDraw;
    if (shown == outcome) return {{of_a, of_b}};
  }
  return rules.technical_points(outcome);
}

}  // namespace

ExplainedResult play(const Definition& rules, const DrawInput& input) {
  MatchResult result;
  if (auto range = rules.numbers()) result.drawn_number = draw_number(input, *range);
  Decision decision = rules.decide(input.choices, result.drawn_number);
  result.outcome = decision.outcome;
  for (Side side : kBothSides) result.choices[side] = input.choices[side];
  return {std::move(result), std::move(decision.reason)};
}

PerSide<int> points_of(const Definition& rules, const MatchResult& result) {
  if (result.is_technical()) return rules.technical_points(result.outcome);
  const auto& [a, b] = result.choices.both;
  const auto range = rules.numbers();
  const bool is_whole =
      a && b && rules.index_of(*a) && rules.index_of(*b) &&
      (range ? result.drawn_number && range->contains(*result.drawn_number) : !result.drawn_number);
  if (!is_whole) return usual_points(rules, result.outcome);
  return rules.payoffs({{*a, *b}}, result.drawn_number);
}

MatchResult technical_result(std::optional<Side> winner, std::string_view reason,
                             PerSide<std::optional<std::string>> choices) {
  MatchResult result;
  result.outcome = winner ? win_of(*winner) : Outcome::kNoWinner;
  result.choices = std::move(choices);
  result.technical_reason = reason;
  return result;
}

}  // namespace league::game
