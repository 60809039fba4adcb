#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "game/judge.h"
#include "league_manager/core/schedule.h"
#include "league_manager/events/agent_lifecycle.h"
#include "league_manager/events/compact_result.h"
#include "league_manager/events/events.h"
#include "league_manager/events/match_key.h"

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

/// How a player answered, as its referee says (`details.answers`).
struct ReportedAnswers {
  std::string player_id;
  std::vector<int> elapsed_us;
  std::vector<std::string> leniencies;
};

/// A MATCH_RESULT_REPORT in the core's words. Player ids are as sent.
struct MatchReport {
  MatchKey match;
  /// Nothing: the referee's latest attempt (third-party referees do not know attempts).
  std::optional<int> attempt;
  std::optional<int> round;  ///< as sent; nothing where it was not
  std::string game_type;
  std::string conversation;
  game::Claim claim;
  std::vector<ReportedFailure> failures;
  std::vector<ReportedAnswers> answers = {};
  int replays = 0;
  std::map<std::string, AnswerTimes> answered_in = {};  ///< by player id
  /// Says who won and nothing that could be checked: no seed and no number. Only of a third-party
  /// referee whose unproven results are accepted; see read_as_foreign.
  bool is_bare = false;
};

/// What the manager knows of the match that a report is about.
struct ReportFacts {
  const game::Rules& rules;
  Pairing pairing;
  DrawSeed seed;
  int attempt = 1;  ///< the one that is open
  bool is_strict = false;
  /// Whether the referee shows match credentials and reveals seeds, as ours do; what it says is
  /// held to more than what a third-party referee says.
  bool has_match_credentials = true;
  bool may_be_unproven = false;  ///< the operator accepts its reports without the seed
};

/// An accepted result.
struct JudgedReport {
  MatchResult result;
  game::Fairness fairness = game::Fairness::kNone;
  game::Bindings bindings = {};
  bool is_unproven = false;
};

/// The report of a third-party referee without the seed, as it is meant: one without a number
/// and without a word on how the match ended was lost technically where one player's choice is
/// missing or nobody got a point, else it is bare.
[[nodiscard]] MatchReport read_as_foreign(MatchReport report);

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
