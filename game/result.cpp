#include "game/result.h"

namespace league::game {

ExplainedResult play(const Rules& rules, const DrawInput& input) {
  MatchResult result;
  if (auto range = rules.numbers()) result.drawn_number = draw_number(input, *range);
  Decision decision = rules.decide(input.choices, result.drawn_number);
  result.outcome = decision.outcome;
  for (Side side : kBothSides) result.choices[side] = input.choices[side];
  return {std::move(result), std::move(decision.reason)};
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
