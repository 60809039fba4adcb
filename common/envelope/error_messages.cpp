#include "common/envelope/error_messages.h"

#include <utility>

namespace league::envelope {

LeagueError make_league_error(const core::Error& error, std::string original_message_type) {
  const auto& info = core::error_info(error.code);
  LeagueError message{
      .error_code = std::string(info.wire_code),
      .error_name = std::string(info.name),
      .error_description = error.message.empty() ? std::string(info.description) : error.message,
      .original_message_type = std::move(original_message_type),
      .retryable = info.retryable,
      .context = {}};
  if (!error.field.empty()) message.context.emplace("field", error.field);
  return message;
}

GameError make_game_error(const core::Error& error, GameErrorOptions options) {
  const auto& info = core::error_info(error.code);
  GameError message{
      .error_code = std::string(info.wire_code),
      .error_name = std::string(info.name),
      .error_description = error.message.empty() ? std::string(info.description) : error.message,
      .affected_player = std::move(options.affected_player),
      .action_required = std::move(options.action_required),
      .consequence = std::move(options.consequence),
      .retry_info = options.retry_info,
      .game_state = std::move(options.game_state),
      .context = {}};
  if (!error.field.empty()) message.context.emplace("field", error.field);
  return message;
}

}  // namespace league::envelope
