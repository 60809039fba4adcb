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

/// Reads a message that must be a Message and checks it as MessageSchemas::validate does.
/// Thread-safe.
template <typename Message>
[[nodiscard]] core::Result<Received<Message>> read(const MessageSchemas& schemas,
                                                   const nlohmann::json& message) {
  const schema::JsonTree tree(message);
  auto envelope = decode_envelope(tree.root());
  auto body = decode<Message>(tree.root());
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

/// The same from the parser's own tree, for a message that is exact (MessageSchemas::is_exact).
/// Nothing for every other message: it has to be normalised, and to be read as above. Thread-safe.
template <typename Message>
[[nodiscard]] std::optional<Received<Message>> read_exact(const MessageSchemas& schemas,
                                                          schema::JsonNode message) {
  auto envelope = decode_envelope(message);
  if (!envelope || !schemas.is_exact(Message::kType, message)) return std::nullopt;
  auto body = decode<Message>(message);
  if (!body) return std::nullopt;
  return Received<Message>{std::move(*envelope), std::move(*body)};
}

/// The answer to a call `Message`, if it has one, as a tuple.
template <typename Message>
struct AnswerTo {
  using Type = std::tuple<>;
};
template <typename Message>
requires requires { typename Message::Answer; }
struct AnswerTo<Message> {
  using Type = std::tuple<typename Message::Answer>;
};
template <typename Tuple>
struct OneOf;
template <typename... Messages>
struct OneOf<std::tuple<Messages...>> {
  using Type = std::variant<Messages...>;
};
template <typename... Messages>
auto answers_to(MessageList<Messages...>)
    -> OneOf<decltype(std::tuple_cat(std::declval<typename AnswerTo<Messages>::Type>()...))>;

/// The messages that answer a call.
using AnswerMessage = decltype(answers_to(AllMessages{}))::Type;

/// Reads an answer of `type`, which is one of AnswerMessage. Thread-safe.
[[nodiscard]] core::Result<Received<AnswerMessage>> read_answer(const MessageSchemas& schemas,
                                                                MessageType type,
                                                                const nlohmann::json& message);

/// The same for an exact answer; nothing for every other, as read_exact.
[[nodiscard]] std::optional<Received<AnswerMessage>> read_exact_answer(
    const MessageSchemas& schemas, MessageType type, schema::JsonNode message);

}  // namespace league::envelope
