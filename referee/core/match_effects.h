#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "referee/core/match_result.h"

namespace league::referee {

using CallId = std::uint64_t;  ///< one call of one match; never 0
using TimerId = std::uint64_t;  ///< one timer of one match; never 0

/// Send GAME_INVITATION or CHOOSE_PARITY_CALL, and pass the outcome back with the id.
struct CallPlayer {
  CallId id = 0;
  Side side = Side::kA;
  Call call = Call::kInvitation;
  int play = 0;  ///< how often the match was played before and did not count
  int attempt = 1;  ///< from 1; a repetition after an invalid answer has the same number
  Duration time_limit{};  ///< from now on; after an invalid answer only the rest of the attempt
  Instant deadline{};  ///< now + time_limit
  /// Of CHOOSE_PARITY_CALL: the opponent's commitment, the same in every repetition.
  std::optional<std::string> opponent_commitment = std::nullopt;
  /// Of CHOOSE_PARITY_CALL: the player's own commitment counts, so the answer has to open it.
  bool is_bound = false;

  bool operator==(const CallPlayer&) const = default;
};

/// Send GAME_ERROR, best effort. Source: protocol §4, message 18.
struct SendGameError {
  Side side = Side::kA;  ///< the recipient
  Side affected = Side::kA;  ///< the player at fault
  Call call = Call::kInvitation;  ///< which call failed
  core::Error error;
  std::string action_required;  ///< the message that is awaited next, or `NONE`
  std::string consequence;  ///< one sentence for people
  int retry_count = 0;  ///< attempts of this call that have failed so far
  int max_retries = 0;  ///< attempts that the call has in total
  std::optional<Duration> next_retry_in;  ///< nothing when no further call follows; 0: at once

  bool operator==(const SendGameError&) const = default;
};

/// Call `on_timer(id)` after `delay`. Timers are never cancelled; an obsolete one has no effect.
struct StartTimer {
  TimerId id = 0;
  Duration delay{};

  bool operator==(const StartTimer&) const = default;
};

/// Send MATCH_RESULT_REPORT; the result of a match is the same in every attempt.
struct ReportResult {
  RefereedMatch match;
  int attempt = 1;

  bool operator==(const ReportResult&) const = default;
};

/// Send GAME_OVER to both players, best effort.
struct AnnounceGameOver {
  RefereedMatch match;

  bool operator==(const AnnounceGameOver&) const = default;
};

/// How a referee's work on a match ended.
enum class Ending {
  kAccepted,  ///< the manager has the result
  kRefused,  ///< the manager refused it (another attempt or referee has the match); nothing was
             ///< announced
  kUnreported,  ///< the manager could not be reached and will assign the match again; nothing was
                ///< announced
  kAbandoned,  ///< the shell gave the match up: nothing was decided or announced
};

/// The last effect of a match: its place is free again.
struct Finished {
  Ending ending = Ending::kAccepted;
  std::optional<core::Error> error;  ///< why it was refused or unreported

  bool operator==(const Finished&) const = default;
};

using Effect =
    std::variant<CallPlayer, SendGameError, StartTimer, ReportResult, AnnounceGameOver, Finished>;
using Effects = std::vector<Effect>;

}  // namespace league::referee
