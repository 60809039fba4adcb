#include "common/envelope/envelope.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/core/text.h"
#include "common/schema/json_fields.h"

namespace league::envelope {
namespace {

std::string three_digits(int number) {
  constexpr std::size_t kWidth = 3;
  std::string digits = std::to_string(number);
  return digits.size() < kWidth ? std::string(kWidth - digits.size(), '0') + digits : digits;
}

/// Builds a conversation id from a name and a number. Names contain ids of up to 64 characters; if
/// the result would be too long, the name is cut.
core::ConversationId conversation(std::string name, std::string_view number) {
  name.resize(std::min(name.size(), kMaxConversationIdLength - number.size()));
  return core::ConversationId(name.append(number));
}

}  // namespace

bool is_conversation_id(std::string_view text) {
  const std::size_t characters = core::count_characters(text);
  return characters > 0 && characters <= kMaxConversationIdLength;
}

std::string conversation_id_in(const nlohmann::json& message) {
  return schema::text_at(message, "conversation_id");
}

Envelope EnvelopeBuilder::make(MessageType type, EnvelopeOptions options) const {
  return {.type = type,
          .sender = sender_,
          .timestamp = clock_.utc_now(),
          .conversation_id = std::move(options.conversation_id),
          .auth_token = std::move(options.auth_token),
          .league_id = league_id_,
          .round_id = options.round_id,
          .match_id = std::move(options.match_id)};
}

void EnvelopeBuilder::set_identity(Sender sender, core::LeagueId league_id) {
  sender_ = std::move(sender);
  league_id_ = std::move(league_id);
}

core::ConversationId registration_conversation(Role role, std::string_view id, int sequence) {
  return conversation("conv" + std::string(role_name(role)) + core::lower_case(id) + "reg",
                      three_digits(sequence));
}

core::ConversationId match_conversation(const core::MatchId& match, int attempt) {
  return conversation("conv" + core::lower_case(match.str()), three_digits(attempt));
}

core::ConversationId round_conversation(int round_id, MessageType type) {
  return conversation("convround" + std::to_string(round_id) + core::lower_case(wire_name(type)),
                      "");
}

core::ConversationId league_conversation(MessageType type) {
  return conversation("convleague" + core::lower_case(wire_name(type)), "");
}

core::ConversationId query_conversation(Role role, std::string_view id, int sequence) {
  return conversation("conv" + std::string(role_name(role)) + core::lower_case(id) + "query",
                      three_digits(sequence));
}

}  // namespace league::envelope
