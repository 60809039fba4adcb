#include "common/envelope/codec_definitions.h"
#include "common/envelope/error_messages.h"

namespace league::envelope {

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<LeagueError> /*unused*/) {
  a.required("error_code", s.error_code);
  a.defaulted("error_name", s.error_name);
  a.defaulted("error_description", s.error_description);
  a.defaulted("original_message_type", s.original_message_type);
  a.optional("retryable", s.retryable);
  a.unless("context", s.context, ErrorContext{});
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<RetryInfo> /*unused*/) {
  a.defaulted("retry_count", s.retry_count);
  a.defaulted("max_retries", s.max_retries);
  a.optional("next_retry_at", s.next_retry_at);
}

template <typename Archive, typename Self>
void describe(Archive& a, Self& s, Of<GameError> /*unused*/) {
  a.required("error_code", s.error_code);
  a.defaulted("error_name", s.error_name);
  a.defaulted("error_description", s.error_description);
  a.required("affected_player", s.affected_player);
  a.defaulted("action_required", s.action_required);
  a.defaulted("consequence", s.consequence);
  a.optional("retry_info", s.retry_info);
  if constexpr (!Archive::kWrites) {
    if (!s.retry_info && a.has("retry_count")) s.retry_info.emplace();
  }
  if (s.retry_info) {
    a.defaulted("retry_count", s.retry_info->retry_count);
    a.defaulted("max_retries", s.retry_info->max_retries);
  }
  a.optional("game_state", s.game_state);
  a.unless("context", s.context, ErrorContext{});
}

template nlohmann::json encode(const Envelope&, const LeagueError&);
template nlohmann::json encode(const Envelope&, const GameError&);
template std::string encode_text(const Envelope&, const GameError&);
template core::Result<LeagueError> decode(schema::JsonNode);
template core::Result<GameError> decode(schema::JsonNode);

}  // namespace league::envelope
