#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/core/ids.h"
#include "common/core/result.h"
#include "common/core/timestamp.h"
#include "common/envelope/message_type.h"

namespace league::envelope {

/// Additional facts about an error. Values that are not strings are read as their JSON text.
using ErrorContext = std::map<std::string, std::string>;

/// Message 17. Never holds a token beyond its first 8 characters.
struct LeagueError {
  static constexpr MessageType kType = MessageType::kLeagueError;
  static const MessageCodec& codec();
  std::string error_code{};  ///< `E012`; a peer's may be one that is not in our table
  std::string error_name{};
  std::string error_description{};
  std::string original_message_type{};  ///< as it was received, perhaps empty
  std::optional<bool> retryable = std::nullopt;
  ErrorContext context{};

  bool operator==(const LeagueError&) const = default;
};

/// How often a call has been tried and when the next attempt is due.
struct RetryInfo {
  int retry_count = 0;
  int max_retries = 0;
  std::optional<core::UtcTimestamp> next_retry_at = std::nullopt;

  bool operator==(const RetryInfo&) const = default;
};

/// Message 18. `retry_info` is also written flat, because peers differ.
struct GameError {
  static constexpr MessageType kType = MessageType::kGameError;
  static const MessageCodec& codec();
  std::string error_code{};
  std::string error_name{};
  std::string error_description{};
  core::PlayerId affected_player{};
  std::string action_required{};
  std::string consequence{};
  std::optional<RetryInfo> retry_info = std::nullopt;
  std::optional<std::string> game_state = std::nullopt;
  ErrorContext context{};

  bool operator==(const GameError&) const = default;
};

/// The LEAGUE_ERROR that tells a peer about `error`; its field goes into the context.
[[nodiscard]] LeagueError make_league_error(const core::Error& error,
                                            std::string original_message_type);

/// The GAME_ERROR that tells a player about `error`; the rest of it is as in `message`.
[[nodiscard]] GameError make_game_error(const core::Error& error, GameError message);

}  // namespace league::envelope
