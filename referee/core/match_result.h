#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error_code.h"
#include "game/result.h"
#include "referee/core/clock_proof.h"
#include "referee/core/match_types.h"

namespace league::referee {

/// How a match ended, for machines; the names are stable.
enum class Termination {
  kNormal,
  kTimeoutJoin,
  kTimeoutChoice,
  kConnectionJoin,
  kConnectionChoice,
  kInvalidReply,
  kInvalidChoice,
  kWrongMatch,
  kDeclined,
  kAuthFailed,
  kPlayerUnavailable,
  kCommitmentMismatch,
  kBothFailed,
};
/// `NORMAL`, `TIMEOUT_JOIN`, ...
[[nodiscard]] std::string_view termination_name(Termination termination);
/// Why a player whose last failure in `call` was `code` has lost.
[[nodiscard]] Termination termination_for(Call call, core::ErrorCode code);

/// How far a call came. Source: protocol §7, "Losses are heard on both sides".
enum class CallPhase {
  kConnect,  ///< it was not written to the player, as far as is known
  kSent,  ///< it was written, and no answer came
  kAnswered,
};
/// `connect`, `sent`, `answered`.
[[nodiscard]] std::string_view phase_name(CallPhase phase);

/// One failed attempt or invalid answer, for `details.failures` of the report.
struct FailureRecord {
  Side side = Side::kA;
  core::PlayerId player;
  Call call = Call::kInvitation;
  core::ErrorCode code = core::ErrorCode::kTimeout;
  int attempt = 0;  ///< from 1; also 1 for a player that was never called
  Duration elapsed{};  ///< since the call was made
  CallPhase phase = CallPhase::kConnect;
  std::string text;  ///< for people
  std::string field = {};  ///< JSON pointer of the wrong field in the answer; empty: none
  std::optional<ClockProof> clock;  ///< of a time-out

  bool operator==(const FailureRecord&) const = default;
};

/// How long a player took for its valid answers; nothing for a missing one.
struct AnswerTimes {
  std::optional<Duration> join;
  std::optional<Duration> choice;

  bool operator==(const AnswerTimes&) const = default;
};

/// The receipts of a player's answers; nothing for a missing one. Source: protocol §7.
struct AnswerReceipts {
  std::optional<std::string> join;
  std::optional<std::string> choice;

  bool operator==(const AnswerReceipts&) const = default;
};

/// `WIN`, `DRAW`, `TECHNICAL_LOSS`.
[[nodiscard]] std::string_view status_name(const game::MatchResult& result);

/// The result of a match and what else its referee knows; GAME_OVER and the report are made from
/// it. Source: protocol §4, messages 10 and 11.
struct RefereedMatch {
  game::MatchResult result;
  game::Bindings bindings;  ///< the commitments that count, and the nonces that opened them
  std::string reason;  ///< for people
  PerSide<std::optional<Termination>> lost_by;  ///< each player's own failure; nothing: it did not
                                                ///< fail
  std::vector<FailureRecord> failures;  ///< in the order in which they happened, of all replays
  PerSide<AnswerTimes> answered_in;  ///< of the play that counts
  PerSide<AnswerReceipts> receipts;  ///< likewise
  int replays = 0;  ///< how often the match was played before and did not count, see ClockProof

  [[nodiscard]] Termination termination() const;

  bool operator==(const RefereedMatch&) const = default;
};

/// A match in which both players chose: draws the number and asks the rules who won.
[[nodiscard]] RefereedMatch played(const game::Definition& rules, const MatchPlan& plan,
                                   const game::Choices& choices, game::Bindings bindings);

/// A match in which at least one player failed: the other one gets a normal win; if both failed,
/// both lose. `choices`: those that were made before the failure. Source: protocol §6.
[[nodiscard]] RefereedMatch technically_lost(const MatchPlan& plan,
                                             const PerSide<std::optional<Termination>>& lost_by,
                                             PerSide<std::optional<std::string>> choices,
                                             game::Bindings bindings);

}  // namespace league::referee
