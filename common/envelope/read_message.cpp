#include "common/envelope/read_message.h"

#include <nlohmann/json.hpp>
#include <string>

namespace league::envelope {
namespace {

/// Calls `reader.operator()<Message>()` for the answer `type`; `otherwise` for a message that
/// answers no call.
template <typename Out, typename Reader>
Out of_answer(MessageType type, Reader reader, Out otherwise) {
  switch (type) {
    case MessageType::kRefereeRegisterResponse:
      return reader.template operator()<RefereeRegisterResponse>();
    case MessageType::kLeagueRegisterResponse:
      return reader.template operator()<LeagueRegisterResponse>();
    case MessageType::kGameJoinAck:
      return reader.template operator()<GameJoinAck>();
    case MessageType::kChooseParityResponse:
      return reader.template operator()<ChooseParityResponse>();
    case MessageType::kLeagueQueryResponse:
      return reader.template operator()<LeagueQueryResponse>();
    default:
      return otherwise;
  }
}

}  // namespace

core::Result<Received<AnswerMessage>> read_answer(const MessageSchemas& schemas, MessageType type,
                                                  const nlohmann::json& message) {
  using Answer = core::Result<Received<AnswerMessage>>;
  const auto read_as = [&]<typename Message>() -> Answer {
    auto received = read<Message>(schemas, message);
    if (!received) return received.error();
    return Received<AnswerMessage>{std::move(received->envelope), std::move(received->message)};
  };
  return of_answer<Answer>(type, read_as,
                           core::Error{core::ErrorCode::kInternalError,
                                       std::string(wire_name(type)) + " answers no call", ""});
}

std::optional<Received<AnswerMessage>> read_exact_answer(const MessageSchemas& schemas,
                                                         MessageType type,
                                                         schema::JsonNode message) {
  using Answer = std::optional<Received<AnswerMessage>>;
  const auto read_as = [&]<typename Message>() -> Answer {
    auto received = read_exact<Message>(schemas, message);
    if (!received) return std::nullopt;
    return Received<AnswerMessage>{std::move(received->envelope), std::move(received->message)};
  };
  return of_answer<Answer>(type, read_as, std::nullopt);
}

}  // namespace league::envelope
