#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/envelope/envelope.h"
#include "common/envelope/error_messages.h"
#include "common/envelope/game_messages.h"
#include "common/envelope/query_messages.h"
#include "common/envelope/registration_messages.h"
#include "common/envelope/round_messages.h"
#include "common/schema/fields.h"
#include "common/schema/json_tree.h"

namespace league::envelope {

/// What a message is for, and which fields of the envelope it must have besides those that all do.
struct MessageAbout {
  std::string_view description = {};
  bool needs_league = false;
  bool needs_round = false;
  bool needs_match = false;
};

/// How a message is read and written.
struct MessageCodec {
  MessageType type;
  MessageAbout about;
  const schema::FieldType& fields;
  schema::Describe describe;
};

/// `message` is of the codec's type.
[[nodiscard]] nlohmann::json encode(const Envelope& envelope, const MessageCodec& codec,
                                    const void* message);
[[nodiscard]] std::string encode_text(const Envelope& envelope, const MessageCodec& codec,
                                      const void* message);

/// The message as it is on the wire: envelope and own fields flat in one object.
/// `envelope.type` is taken from the message. Thread-safe, like everything in this file.
template <typename Message>
[[nodiscard]] nlohmann::json encode(const Envelope& envelope, const Message& message) {
  return encode(envelope, Message::codec(), &message);
}

/// The JSON text of the same, written directly without building a JSON tree.
template <typename Message>
[[nodiscard]] std::string encode_text(const Envelope& envelope, const Message& message) {
  return encode_text(envelope, Message::codec(), &message);
}

/// Reads the message's own fields. Meant for messages that have passed MessageSchemas::validate;
/// anything else gives an Error with the JSON pointer of the field, never an exception. Missing
/// optional fields get their defaults.
template <typename Message>
[[nodiscard]] core::Result<Message> decode(schema::JsonNode in) {
  Message message{};
  if (auto done = schema::read_into(in, Message::codec().fields, &message); !done)
    return std::move(done).error();
  return message;
}
template <typename Message>
[[nodiscard]] core::Result<Message> decode(const nlohmann::json& message) {
  return decode<Message>(schema::JsonTree(message).root());
}

/// The envelope alone, as an object.
[[nodiscard]] nlohmann::json encode_envelope(const Envelope& envelope);
/// Reads the envelope fields; null and empty optional fields count as absent.
[[nodiscard]] core::Result<Envelope> decode_envelope(schema::JsonNode message);
[[nodiscard]] core::Result<Envelope> decode_envelope(const nlohmann::json& message);

/// The array `matches` of the answer to an accepted MATCH_RESULT_REPORT. Source: protocol §7.
[[nodiscard]] nlohmann::json encode_assignments(std::span<const MatchAssignment> matches);
[[nodiscard]] core::Result<std::vector<MatchAssignment>> decode_assignments(
    const nlohmann::json& matches);

/// The array `matches` of ROUND_ANNOUNCEMENT, for copies that contain only a part of it.
[[nodiscard]] nlohmann::json encode_announced(std::span<const AnnouncedMatch> matches);

/// Rows of the table, for answers that are not league messages (`get_standings`) and for copies
/// that contain only a part of it.
[[nodiscard]] nlohmann::json encode_standings(std::span<const StandingsRow> rows);

}  // namespace league::envelope
