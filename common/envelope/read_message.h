#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "common/envelope/codec.h"
#include "common/envelope/message_schemas.h"

namespace league::envelope {

/// A message that came: its header and its own fields.
template <typename Message>
struct Received {
  Envelope envelope;
  Message message;
};

/// Reads a message that must be a Message, each field once, and checks it as
/// MessageSchemas::validate does. Thread-safe.
template <typename Message>
[[nodiscard]] core::Result<Received<Message>> read(const MessageSchemas& schemas,
                                                   const nlohmann::json& message) {
  auto envelope = decode_envelope(message);
  auto body = decode<Message>(message);
  std::optional<core::Error> fault;
  if (!envelope) {
    fault = envelope.error();
  } else if (!body) {
    fault = body.error();
  }
  if (auto checked = schemas.check(Message::kType, message, fault); !checked)
    return checked.error();
  return Received<Message>{std::move(*envelope), std::move(*body)};
}

/// The messages that answer a call.
using AnswerMessage = std::variant<RefereeRegisterResponse, LeagueRegisterResponse, GameJoinAck,
                                   ChooseParityResponse, LeagueQueryResponse>;

/// Reads an answer of `type`, which is one of AnswerMessage. Thread-safe.
[[nodiscard]] core::Result<Received<AnswerMessage>> read_answer(const MessageSchemas& schemas,
                                                                MessageType type,
                                                                const nlohmann::json& message);

}  // namespace league::envelope
