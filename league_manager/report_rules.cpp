#include "league_manager/report_rules.h"

#include <utility>

#include "league_manager/agent_ref.h"

namespace league::league_manager {

namespace {

core::Error invalid(const MatchReport& report, const std::string& what, std::string field) {
  return {core::ErrorCode::kInvalidResult, "report of " + report.match.id().str() + ": " + what,
          std::move(field)};
}

struct Players {
  std::string a;
  std::string b;
};

core::Result<Outcome> read_outcome(const MatchReport& report, const Players& players) {
  if (!report.winner_id)
    return report.technical_reason.empty() ? Outcome::kDraw : Outcome::kNoWinner;
  if (*report.winner_id == players.a) return Outcome::kPlayerAWins;
  if (*report.winner_id == players.b) return Outcome::kPlayerBWins;
  return invalid(report, "winner is neither " + players.a + " nor " + players.b, "/result/winner");
}

core::Result<void> check_score(const MatchReport& report, const Players& players, Outcome outcome) {
  std::optional<int> a;
  std::optional<int> b;
  for (const auto& [player, points] : report.score) {
    auto& mine = player == players.a ? a : b;
    if ((player != players.a && player != players.b) || mine) {
      return invalid(report, "score must name " + players.a + " and " + players.b + ", each once",
                     "/result/score");
    }
    mine = points;
  }
  Points expected = points_of(outcome);
  if (a == expected.a && b == expected.b) return {};
  return invalid(report,
                 "score must be " + players.a + " " + std::to_string(expected.a) + ", " +
                     players.b + " " + std::to_string(expected.b) + " for this winner",
                 "/result/score");
}

core::Result<void> read_choices(const MatchReport& report, const Players& players,
                                MatchResult& result) {
  for (const auto& [player, choice] : report.choices) {
    if (player != players.a && player != players.b) {
      return invalid(report, "choices name a player who is not in the match",
                     "/result/details/choices");
    }
    if (!choice) continue;
    auto parity = parse_parity(*choice);
    if (!parity)
      return invalid(report, "a choice is neither 'even' nor 'odd'", "/result/details/choices");
    (player == players.a ? result.choice_a : result.choice_b) = parity;
  }
  return {};
}

/// The outcome that follows from number and choices.
Outcome played_outcome(int number, Parity a, Parity b) {
  Parity drawn = number % 2 == 0 ? Parity::kEven : Parity::kOdd;
  if (a == b) return Outcome::kDraw;
  return a == drawn ? Outcome::kPlayerAWins : Outcome::kPlayerBWins;
}

core::Result<void> check_play(const MatchReport& report, const MatchResult& result) {
  if (result.is_technical()) {
    if (result.outcome == Outcome::kDraw)
      return invalid(report, "a technical loss is no draw", "/result");
    return {};
  }
  if (!result.drawn_number || !result.choice_a || !result.choice_b) {
    return invalid(
        report,
        "a match that was played needs drawn_number and both choices; one that was not, a reason",
        "/result/details");
  }
  if (played_outcome(*result.drawn_number, *result.choice_a, *result.choice_b) != result.outcome) {
    return invalid(report, "the winner does not follow from drawn_number and choices",
                   "/result/winner");
  }
  return {};
}

}  // namespace

core::Result<MatchResult> check_report(const MatchReport& report, Pairing pairing) {
  Players players{AgentRef::player(pairing.player_a).id(), AgentRef::player(pairing.player_b).id()};
  if (report.technical_reason.size() > 100) {
    return invalid(report, "the reason is longer than 100 characters", "/result/details/reason");
  }
  if (report.drawn_number && (*report.drawn_number < 1 || *report.drawn_number > 10)) {
    return invalid(report, "drawn_number is not in 1 to 10", "/result/details/drawn_number");
  }
  auto outcome = read_outcome(report, players);
  if (!outcome) return outcome.error();
  MatchResult result;
  result.outcome = *outcome;
  result.drawn_number = report.drawn_number;
  result.technical_reason = report.technical_reason;
  if (auto ok = check_score(report, players, *outcome); !ok) return ok.error();
  if (auto ok = read_choices(report, players, result); !ok) return ok.error();
  if (auto ok = check_play(report, result); !ok) return ok.error();
  return result;
}

}  // namespace league::league_manager
