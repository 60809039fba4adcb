#pragma once

#include <chrono>
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
#include "league_manager/events/settings.h"

namespace league::league_manager {

/// A failed call that a referee has seen (`details.failures`).
struct ReportedFailure {
  std::string player_id;
  events::FailureKind kind = events::FailureKind::kTimeout;
  /// Whether the player is to blame: not for a time-out that was the referee's own.
  bool counts = true;
  bool is_timeout = false;
  std::string call = {};  ///< as sent
  std::string error_code = {};  ///< as sent
  std::string text = {};  ///< for people, as sent
  bool has_clock = false;  ///< of a time-out: the report contains its proof ...
  bool is_void = false;  ///< ... which says that the referee itself was late
  std::string phase = {};  ///< as sent, see envelope::CallFailure; empty: not said
  std::string field = {};  ///< as sent, see envelope::CallFailure
  std::chrono::milliseconds elapsed{};  ///< as sent
  std::chrono::milliseconds limit{};  ///< of a time-out with its proof: as that says
};

/// The receipts of a player in a report, as sent.
struct ReportedReceipts {
  std::optional<std::string> join;
  std::optional<std::string> choice;
};

/// How a player answered, as its referee says (`details.answers`).
struct ReportedAnswers {
  std::string player_id;
  std::vector<int> elapsed_us;
  std::vector<std::string> leniencies;
};

/// A MATCH_RESULT_REPORT in the types of the core. Player ids are as sent.
struct MatchReport {
  events::MatchKey match;
  /// Nothing: the referee's latest attempt, since third-party referees do not know attempts.
  std::optional<int> attempt;
  std::optional<int> round;  ///< as sent; nothing: not sent
  std::string game_type;
  std::string conversation;
  game::Claim claim;
  std::vector<ReportedFailure> failures;
  std::vector<ReportedAnswers> answers = {};
  int replays = 0;
  std::map<std::string, events::AnswerTimes> answered_in = {};  ///< by player id
  std::map<std::string, ReportedReceipts> receipts = {};  ///< by player id
  /// The report says who won but contains nothing that could be checked: no seed and no number.
  /// Only for third-party referees whose unproven results are accepted; see read_as_foreign.
  bool is_bare = false;
};

/// What the manager knows of the match that a report is about.
struct ReportFacts {
  const game::Definition& rules;
  Pairing pairing;
  events::DrawSeed seed;
  int attempt = 1;  ///< the one that is open
  bool is_strict = false;
  /// Whether the referee shows match credentials and reveals seeds, as ours do; its reports are
  /// checked more strictly than those of a third-party referee.
  bool has_match_credentials = true;
  bool may_be_unproven = false;  ///< the operator accepts its reports without the seed
  /// Of players that have the time for people: what the assignment gave them.
  game::PerSide<std::optional<events::SeatLimits>> own_limits = {};
};

/// An accepted result.
struct JudgedReport {
  game::MatchResult result;
  game::Fairness fairness = game::Fairness::kNone;
  game::Bindings bindings = {};
  bool is_unproven = false;
};

/// Interprets the report of a third-party referee that has no seed. If it has no number and does
/// not say how the match ended, it is a technical loss if a player's choice is missing or nobody
/// got a point; otherwise it is bare.
[[nodiscard]] MatchReport read_as_foreign(MatchReport report);

/// The result that `report` states, if it follows from seed, choices and nonces and fits the match,
/// the round, the game, the conversation and the attempt. For each player that lost technically the
/// report must list a failure, and for each time-out its proof. Fails with kInvalidResult. Source:
/// protocol §7, "The manager judges".
[[nodiscard]] core::Result<JudgedReport> judge_report(const MatchReport& report,
                                                      const ReportFacts& facts);

/// The result that `report` states, without judging it, for a comparison with the accepted result.
/// Fails with kInvalidResult if it is not a result of these players, this round and this game.
[[nodiscard]] core::Result<game::MatchResult> claimed_result(const MatchReport& report,
                                                             const game::Definition& rules,
                                                             Pairing pairing);

}  // namespace league::league_manager
