#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/ids.h"
#include "game/draw.h"
#include "game/side.h"

namespace league::referee {

using Instant =
    std::chrono::steady_clock::time_point;  ///< what a core::Clock gives; a Match never asks for it
using Duration = std::chrono::nanoseconds;

using game::kBothSides;
using game::PerSide;
using game::Side;

/// What a player is asked for.
enum class Call { kInvitation, kChooseParity };
/// The message that makes the call: `GAME_INVITATION`, `CHOOSE_PARITY_CALL`.
[[nodiscard]] std::string_view call_name(Call call);
/// The message that answers it: `GAME_JOIN_ACK`, `CHOOSE_PARITY_RESPONSE`.
[[nodiscard]] std::string_view expected_reply(Call call);

/// The state of a match. Source: protocol §7.
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
  int max_replays = 3;  ///< of a match with a loss by time-out that was the referee's own fault
};

/// Time for the answers of one player.
struct OwnLimits {
  Duration invitation{};
  Duration choice{};
};

/// One player of a match.
struct Seat {
  core::PlayerId player;
  bool is_unavailable = false;  ///< suspended and without an answer to a ping: it loses without
                                ///< being called
  bool has_receipts = false;  ///< it declared receipts, so it commits in every match that has a
                              ///< draw commitment (protocol §7)
  bool is_suspended = false;  ///< every call is made once, and not repeated after E001 and E009
  /// In place of the usual limits; then every call is made once, too. Source: protocol §10, "Time
  /// for people".
  std::optional<OwnLimits> own_limits = std::nullopt;
};

/// The initial settings of a match. Holds no credentials; the shell keeps them.
struct MatchPlan {
  core::MatchId match_id;
  PerSide<Seat> seats;
  game::Seed draw_seed{};
  /// As announced; without it no player can commit to a choice.
  std::optional<std::string> draw_commitment = std::nullopt;
  MatchSettings settings;
};

}  // namespace league::referee
