#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/error_code.h"
#include "common/core/ids.h"
#include "referee/rules/rules_module.h"

namespace league::referee {

using Instant =
    std::chrono::steady_clock::time_point;  ///< what a core::Clock gives; a Match never asks for it
using Duration = std::chrono::nanoseconds;

/// Which of the two roles of a match; `role_in_match` on the wire.
enum class Slot : std::size_t { kA = 0, kB = 1 };
inline constexpr std::array<Slot, 2> kBothSlots = {Slot::kA, Slot::kB};
[[nodiscard]] constexpr std::size_t index(Slot slot) { return static_cast<std::size_t>(slot); }
[[nodiscard]] constexpr Slot other(Slot slot) { return slot == Slot::kA ? Slot::kB : Slot::kA; }
/// `PLAYER_A`, `PLAYER_B`.
[[nodiscard]] std::string_view slot_name(Slot slot);

/// One value for each player.
template <typename T>
struct PerPlayer {
  std::array<T, 2> both{};

  [[nodiscard]] T& operator[](Slot slot) { return both[index(slot)]; }
  [[nodiscard]] const T& operator[](Slot slot) const { return both[index(slot)]; }
  bool operator==(const PerPlayer&) const = default;
};

/// What a player is asked for.
enum class Call { kInvitation, kChooseParity };
/// The message that makes the call: `GAME_INVITATION`, `CHOOSE_PARITY_CALL`.
[[nodiscard]] std::string_view call_name(Call call);
/// The message that answers it: `GAME_JOIN_ACK`, `CHOOSE_PARITY_RESPONSE`.
[[nodiscard]] std::string_view expected_reply(Call call);

/// Where a match is. Source: protocol §7.
enum class MatchState { kWaitingForPlayers, kCollectingChoices, kDrawingNumber, kFinished };
/// `WAITING_FOR_PLAYERS`, `COLLECTING_CHOICES`, `DRAWING_NUMBER`, `FINISHED`.
[[nodiscard]] std::string_view state_name(MatchState state);

/// Limits of one game; all are settings, so that tests and fast leagues can shorten them. Source:
/// protocol §6.
struct MatchSettings {
  Duration invitation_limit = std::chrono::seconds(5);  ///< per attempt
  Duration choice_limit = std::chrono::seconds(30);  ///< per attempt
  int max_attempts = 3;  ///< of one call after E001 and E009; at least 1
  Duration retry_delay = std::chrono::seconds(2);
  int max_invalid_answers = 3;  ///< to one call, over all attempts; at least 1
  int max_report_attempts = 10;
  Duration report_retry_delay = std::chrono::seconds(2);  ///< doubles with each attempt
  Duration longest_report_delay = std::chrono::seconds(30);
};

/// One player of a match.
struct Seat {
  core::PlayerId player;
  bool is_unavailable = false;  ///< the manager has found it dead: it loses without being asked
};

/// What a match is told at its birth. Holds no credentials: those are the shell's.
struct MatchPlan {
  core::MatchId match_id;
  PerPlayer<Seat> seats;
  rules::DrawSeed draw_seed{};
  MatchSettings settings;
};

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
  std::vector<FailureRecord> failures;  ///< in the order in which they happened

  bool operator==(const MatchResult&) const = default;
};

}  // namespace league::referee
