#include "league_manager/core/report_rules.h"

#include <algorithm>
#include <utility>

#include "league_manager/events/agent_ref.h"

namespace league::league_manager {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t kLongestTechnicalReason = 100;
constexpr std::size_t kLongestShown = 64;
constexpr std::string_view kUnknownReason = "UNKNOWN";  // of a technical loss, if the report gives
                                                        // none
constexpr int kMostReplays = 3;  // of the fair clock, see docs/protocol.md

core::Error invalid(const MatchReport& report, const std::string& what, std::string field) {
  return {core::ErrorCode::kInvalidResult, "report of " + report.match.id().str() + ": " + what,
          std::move(field)};
}

game::PerSide<std::string> players_of(Pairing pairing) {
  return {{events::AgentRef::player(pairing.player_a).id(),
           events::AgentRef::player(pairing.player_b).id()}};
}

/// The JSON pointer to a field of the claim in the message.
std::string pointer_to(const std::string& field) {
  const bool is_outside = field == "winner" || field == "score";
  return (is_outside ? "/result/" : "/result/details/") + field;
}

core::Error refusal(const MatchReport& report, const game::Contradiction& contradiction) {
  return invalid(report, contradiction.text, pointer_to(contradiction.field));
}

core::Result<void> check_round_and_game(const MatchReport& report, const game::Definition& rules) {
  if (report.round && *report.round != report.match.round) {
    return invalid(report,
                   "round_id is " + std::to_string(*report.round) +
                       ", but the match belongs to round " + std::to_string(report.match.round),
                   "/round_id");
  }
  if (report.game_type != rules.game_type()) {
    return invalid(report,
                   "game_type is \"" + report.game_type.substr(0, kLongestShown) +
                       "\", but this league plays " + std::string(rules.game_type()),
                   "/game_type");
  }
  return {};
}

core::Result<void> check_circumstances(const MatchReport& report, const ReportFacts& facts) {
  if (auto named = check_round_and_game(report, facts.rules); !named) return named;
  const auto expected = events::match_conversation(report.match, facts.attempt).str();
  if (report.conversation != expected && (facts.has_match_credentials || facts.is_strict)) {
    return invalid(report,
                   "conversation_id is \"" + report.conversation.substr(0, kLongestShown) +
                       "\", but the match was assigned in " + expected,
                   "/conversation_id");
  }
  if (report.claim.technical_reason.size() > kLongestTechnicalReason) {
    return invalid(report, "termination is longer than 100 characters",
                   "/result/details/termination");
  }
  return {};
}

/// How much of `limit` the player did not get by what the report says of the call that failed last.
/// Calls that follow an invalid answer have the rest of the time.
milliseconds withheld(const MatchReport& report, const ReportedFailure& last, milliseconds limit) {
  milliseconds left = limit - std::min(last.limit, limit);
  for (const auto& failure : report.failures) {
    const bool is_earlier = &failure != &last && failure.player_id == last.player_id;
    if (is_earlier && failure.call == last.call) left -= std::min(failure.elapsed, left);
  }
  return left;
}

/// Checks that each player that lost technically has a failure in the report, that each time-out
/// has its proof, and that a player with limits of its own had that time.
core::Result<void> check_losses(const MatchReport& report, const game::MatchResult& result,
                                const game::PerSide<std::string>& players,
                                const ReportFacts& facts) {
  constexpr milliseconds kRounding{100};
  if (!result.is_technical()) return {};
  const auto winner = game::winner_of(result.outcome);
  for (game::Side side : game::kBothSides) {
    if (winner == side) continue;
    const auto& failures = report.failures;
    const auto last = std::find_if(failures.rbegin(), failures.rend(), [&](const auto& failure) {
      return failure.player_id == players[side];
    });
    if (last == failures.rend()) {
      return invalid(report,
                     players[side] + " lost by " + result.technical_reason +
                         ", but failures does not say which of its calls failed",
                     "/result/details/failures");
    }
    if (last->is_timeout && !last->has_clock) {
      return invalid(report,
                     players[side] +
                         " lost by a time-out, but its last failure has no clock, the proof that "
                         "the referee itself was on time",
                     "/result/details/failures");
    }
    if (const auto& own = facts.own_limits[side]; own && last->is_timeout) {
      const auto limit = last->call == "GAME_INVITATION" ? own->invitation : own->choice;
      if (withheld(report, *last, limit) > kRounding) {
        return invalid(report,
                       players[side] +
                           " lost by a time-out, but clock.limit_ms of its last failure is less "
                           "than the " +
                           std::to_string(limit.count()) + " ms that the assignment gives it",
                       "/result/details/failures");
      }
    }
    if (last->is_void && report.replays < kMostReplays) {
      return invalid(
          report,
          players[side] +
              " lost by a time-out, but the referee itself was late: play the match again",
          "/result/details/failures");
    }
  }
  return {};
}

}  // namespace

MatchReport read_as_foreign(MatchReport report) {
  game::Claim& claim = report.claim;
  const bool reveals_seed = claim.seed && !claim.seed->empty();
  if (reveals_seed || claim.drawn_number || !claim.technical_reason.empty()) return report;
  const auto chose =
      std::ranges::count_if(claim.choices, [](const auto& one) { return one.second.has_value(); });
  const bool has_points = claim.score && std::ranges::any_of(*claim.score, [](const auto& one) {
                            return one.second > 0;
                          });
  report.is_bare = has_points && chose != 1;
  if (!report.is_bare) claim.technical_reason = kUnknownReason;
  return report;
}

core::Result<JudgedReport> judge_report(const MatchReport& report, const ReportFacts& facts) {
  if (auto fits = check_circumstances(report, facts); !fits) return fits.error();
  const std::string match_id = report.match.id().str();
  const auto players = players_of(facts.pairing);
  game::Judgement judgement =
      game::judge(facts.rules,
                  {.match_id = match_id,
                   .players = players,
                   .draw_commitment = game::draw_commitment(facts.seed, match_id)},
                  report.claim);
  if (report.is_bare) {
    // What a bare report leaves out cannot be judged; the result is unproven in any case.
    std::erase_if(judgement.contradictions, [](const auto& one) {
      return one.aspect == game::Aspect::kChoice || one.field == "drawn_number";
    });
  }
  JudgedReport judged{.result = judgement.result,
                      .fairness = game::fairness_of(judgement.bindings),
                      .bindings = judgement.bindings,
                      .is_unproven = judgement.is_only_unproven()};
  if (judged.is_unproven) {
    if (facts.has_match_credentials) return refusal(report, judgement.contradictions.front());
    if (!facts.may_be_unproven) {
      return invalid(report,
                     "draw_proof, the seed of the draw, is missing, and this league does not "
                     "accept reports without it; its operator can allow them (--unproven-referees)",
                     "/result/details/draw_proof");
    }
  } else if (!judgement.contradictions.empty()) {
    const auto& all = judgement.contradictions;
    // Name another contradiction first, if there is one: a missing seed is the less useful reason.
    const auto worst = std::ranges::find_if(
        all, [](const auto& one) { return one.aspect != game::Aspect::kUnproven; });
    return refusal(report, worst != all.end() ? *worst : all.front());
  }
  if (facts.has_match_credentials) {
    if (auto proven = check_losses(report, judged.result, players, facts); !proven)
      return proven.error();
  }
  return judged;
}

core::Result<game::MatchResult> claimed_result(const MatchReport& report,
                                               const game::Definition& rules, Pairing pairing) {
  if (auto named = check_round_and_game(report, rules); !named) return named.error();
  const game::Judgement judgement = game::judge(
      rules,
      {.match_id = report.match.id().str(), .players = players_of(pairing), .draw_commitment = {}},
      report.claim);
  for (const auto& contradiction : judgement.contradictions) {
    if (contradiction.aspect == game::Aspect::kForm) return refusal(report, contradiction);
  }
  return judgement.result;
}

}  // namespace league::league_manager
