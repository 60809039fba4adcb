#include "common/envelope/error_messages.h"

#include <utility>

namespace league::envelope {

namespace {

/// Fills in what both messages say about an error.
template <typename Message>
void explain(Message& message, const core::Error& error) {
  const auto& info = core::error_info(error.code);
  message.error_code = info.wire_code;
  message.error_name = info.name;
  message.error_description = error.message.empty() ? info.description : error.message;
  if (!error.field.empty()) message.context.emplace("field", error.field);
}

}  // namespace

LeagueError make_league_error(const core::Error& error, std::string original_message_type) {
  LeagueError message{.original_message_type = std::move(original_message_type),
                      .retryable = core::error_info(error.code).retryable};
  explain(message, error);
  return message;
}

GameError make_game_error(const core::Error& error, GameError message) {
  explain(message, error);
  return message;
}

}  // namespace league::envelope
