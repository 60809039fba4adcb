#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error_code.h"
#include "referee/clock_proof.h"
#include "referee/match_types.h"

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
  kBothFailed,
};
/// `NORMAL`, `TIMEOUT_JOIN`, ...
[[nodiscard]] std::string_view termination_name(Termination termination);
/// Why a player whose last failure in `call` was `code` has lost.
[[nodiscard]] Termination termination_for(Call call, core::ErrorCode code);

/// One failed attempt or invalid answer, for `details.failures` of the report.
struct FailureRecord {
  Slot slot = Slot::kA;
  core::PlayerId player;
  Call call = Call::kInvitation;
  core::ErrorCode code = core::ErrorCode::kTimeout;
  int attempt = 0;  ///< from 1; 0 for a player that was not asked
  Duration elapsed{};  ///< since the call was made
  std::string text;  ///< for people
  std::optional<ClockProof> clock;  ///< of a time-out

  bool operator==(const FailureRecord&) const = default;
};

enum class ResultStatus { kWin, kDraw, kTechnicalLoss };
/// `WIN`, `DRAW`, `TECHNICAL_LOSS`.
[[nodiscard]] std::string_view status_name(ResultStatus status);

/// What GAME_OVER and the report say. Source: protocol §4, messages 10 and 11.
struct MatchResult {
  ResultStatus status = ResultStatus::kDraw;
  std::optional<Slot> winner;
  PerPlayer<int> score;  ///< 3-0, 1-1, or 0-0 when both failed
  std::optional<int> drawn_number;  ///< nothing after a technical loss
  std::optional<std::string> number_parity;  ///< nothing after a technical loss
  PerPlayer<std::optional<std::string>> choices;  ///< nothing for a player that never chose
  std::string reason;  ///< for people
  Termination termination = Termination::kNormal;
  PerPlayer<std::optional<Termination>> lost_by;  ///< each player's own failure, where it failed
  std::vector<FailureRecord> failures;  ///< in the order in which they happened, of all replays
  int replays = 0;  ///< how often the match was played before and did not count, see ClockProof

  bool operator==(const MatchResult&) const = default;
};

/// The result of a match in which both players chose: draws the number and asks the rules who won.
[[nodiscard]] MatchResult played_result(const rules::RulesModule& rules, const MatchPlan& plan,
                                        const rules::Choices& choices);

/// The result of a match in which at least one player failed: the other one wins as by a normal
/// win, two failed ones both lose. `choices` holds what was chosen before. Source: protocol §6.
[[nodiscard]] MatchResult technical_result(const MatchPlan& plan,
                                           const PerPlayer<std::optional<Termination>>& lost_by,
                                           const PerPlayer<std::optional<std::string>>& choices);

}  // namespace league::referee
