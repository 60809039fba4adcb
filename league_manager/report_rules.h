#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "game/judge.h"
#include "league_manager/agent_lifecycle.h"
#include "league_manager/compact_result.h"
#include "league_manager/match_key.h"
#include "league_manager/schedule.h"

namespace league::league_manager {

/// A failed call that a referee has seen (`details.failures`).
struct ReportedFailure {
  std::string player_id;
  FailureKind kind = FailureKind::kTimeout;
  /// Whether the player is to blame: not for a time-out that was the referee's own.
  bool counts = true;
  bool is_timeout = false;
  std::string call = {};  ///< as sent
  std::string error_code = {};  ///< as sent
  std::string text = {};  ///< for people, as sent
  bool has_clock = false;  ///< of a time-out: its proof is there ...
  bool is_void = false;  ///< ... and says that the referee itself was late
};

/// A MATCH_RESULT_REPORT in the core's words. Player ids are as sent.
struct MatchReport {
  MatchKey match;
  /// Nothing: the referee's latest attempt (referees of other origin do not know attempts).
  std::optional<int> attempt;
  std::optional<int> round;  ///< as sent; nothing where it was not
  std::string game_type;
  std::string conversation;
  game::Claim claim;
  std::vector<ReportedFailure> failures;
  int replays = 0;
};

/// What the manager knows of the match that a report is about.
struct ReportFacts {
  const game::Rules& rules;
  Pairing pairing;
  DrawSeed seed;
  int attempt = 1;  ///< the one that is open
  bool is_strict = false;
  /// Whether the referee shows match credentials and reveals seeds, as ours do; what it says is
  /// held to more than what a referee of other origin says.
  bool has_match_credentials = true;
  bool may_be_unproven = false;  ///< the operator accepts its reports without the seed
};

/// An accepted result.
struct JudgedReport {
  MatchResult result;
  game::Fairness fairness = game::Fairness::kNone;
  bool is_unproven = false;
};

/// The result that `report` states, if it follows from seed, choices and nonces and fits the match,
/// the round, the game, the conversation and the attempt. A player that lost for a failure must
/// have one in the report, and a time-out its proof. Fails with kInvalidResult. Source: protocol
/// §7, "The manager judges".
[[nodiscard]] core::Result<JudgedReport> judge_report(const MatchReport& report,
                                                      const ReportFacts& facts);

/// The result that `report` states, unjudged: to compare it with the one that stands. Fails with
/// kInvalidResult where it is no result of these players.
[[nodiscard]] core::Result<MatchResult> claimed_result(const MatchReport& report,
                                                       const game::Rules& rules, Pairing pairing);

}  // namespace league::league_manager
