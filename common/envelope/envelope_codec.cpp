#include <limits>
#include <nlohmann/json.hpp>

#include "common/envelope/codec.h"

namespace league::envelope {
namespace {

using core::Error;
using core::ErrorCode;
using nlohmann::json;
using schema::Fields;
using schema::JsonNode;
using schema::JsonType;

Error missing(const char* name) {
  return {ErrorCode::kMissingRequiredField, std::string(name) + " is required",
          std::string("/") + name};
}

Error wrong_type(const char* name, const char* expected) {
  return {ErrorCode::kInvalidFieldType, std::string(name) + " must be " + expected,
          std::string("/") + name};
}

/// The field; no value if it is absent, null or empty.
JsonNode find(JsonNode message, std::string_view name) {
  const JsonNode found = message.find(name);
  const bool is_empty = found.is(JsonType::kString) && found.text().empty();
  return is_empty || found.is(JsonType::kNull) ? JsonNode() : found;
}

core::Result<std::string_view> required_text(JsonNode message, const char* name) {
  const JsonNode found = find(message, name);
  if (!found) return missing(name);
  if (!found.is(JsonType::kString)) return wrong_type(name, "a string");
  return found.text();
}

/// Fills `out` with an optional text; the error if it is something else.
template <typename T>
std::optional<Error> read_optional(JsonNode message, const char* name, std::optional<T>& out) {
  const JsonNode found = find(message, name);
  if (!found) return std::nullopt;
  if (!found.is(JsonType::kString)) return wrong_type(name, "a string");
  out.emplace(std::string(found.text()));
  return std::nullopt;
}

std::optional<Error> read_round(JsonNode message, std::optional<int>& out) {
  const JsonNode found = find(message, "round_id");
  if (!found) return std::nullopt;
  if (!found.is_number()) return wrong_type("round_id", "an integer");
  const double number = found.number();
  if (!(number >= 0 && number <= std::numeric_limits<int>::max()))
    return wrong_type("round_id", "a round's number");
  out = static_cast<int>(number);
  return std::nullopt;
}

std::optional<Error> read_required(JsonNode message, Envelope& out) {
  auto type = required_text(message, "message_type");
  if (!type) return type.error();
  auto known = message_type_from_wire(*type);
  if (!known)
    return Error{ErrorCode::kUnknownMessageType,
                 "message_type is not one of the message types of league.v2", "/message_type"};
  out.type = *known;
  auto sender_text = required_text(message, "sender");
  if (!sender_text) return sender_text.error();
  auto sender = Sender::parse(*sender_text);
  if (!sender) return sender.error();
  out.sender = std::move(*sender);
  auto timestamp_text = required_text(message, "timestamp");
  if (!timestamp_text) return timestamp_text.error();
  auto timestamp = core::UtcTimestamp::parse(*timestamp_text);
  if (!timestamp) return timestamp.error();
  out.timestamp = *timestamp;
  auto conversation = required_text(message, "conversation_id");
  if (!conversation) return conversation.error();
  out.conversation_id = core::ConversationId(*conversation);
  return std::nullopt;
}

/// The fields of the envelope, with `type` in place of its own.
void describe_envelope(Fields& a, const Envelope& envelope, MessageType type) {
  a.required("protocol", kProtocol);
  a.required("message_type", wire_name(type));
  a.required("sender", envelope.sender.str());
  a.required("timestamp", envelope.timestamp);
  a.required("conversation_id", envelope.conversation_id);
  a.optional("auth_token", envelope.auth_token);
  a.optional("league_id", envelope.league_id);
  a.optional("round_id", envelope.round_id);
  a.optional("match_id", envelope.match_id);
}

auto describe_whole(const Envelope& envelope, const MessageCodec& codec, const void* message) {
  return [&envelope, &codec, message](Fields& a) {
    describe_envelope(a, envelope, codec.type);
    codec.describe(a, const_cast<void*>(message));  // written to only when reading
  };
}

}  // namespace

json encode(const Envelope& envelope, const MessageCodec& codec, const void* message) {
  return schema::object_to_json(describe_whole(envelope, codec, message));
}

std::string encode_text(const Envelope& envelope, const MessageCodec& codec, const void* message) {
  return schema::object_to_text(describe_whole(envelope, codec, message));
}

json encode_envelope(const Envelope& envelope) {
  return schema::object_to_json([&](Fields& a) { describe_envelope(a, envelope, envelope.type); });
}

core::Result<Envelope> decode_envelope(const json& message) {
  return decode_envelope(schema::JsonTree(message).root());
}

core::Result<Envelope> decode_envelope(JsonNode message) {
  if (!message.is(JsonType::kObject))
    return Error{ErrorCode::kMalformedMessage, "a league message is a JSON object", ""};
  Envelope out;
  if (auto error = read_required(message, out)) return std::move(*error);
  if (auto error = read_optional(message, "auth_token", out.auth_token)) return std::move(*error);
  if (auto error = read_optional(message, "league_id", out.league_id)) return std::move(*error);
  if (auto error = read_optional(message, "match_id", out.match_id)) return std::move(*error);
  if (auto error = read_round(message, out.round_id)) return std::move(*error);
  return out;
}

}  // namespace league::envelope
