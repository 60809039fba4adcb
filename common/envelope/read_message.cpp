#include "common/envelope/read_message.h"

#include <nlohmann/json.hpp>
#include <string>

namespace league::envelope {
namespace {

template <typename Message>
core::Result<Received<AnswerMessage>> read_as(const MessageSchemas& schemas,
                                              const nlohmann::json& message) {
  auto received = read<Message>(schemas, message);
  if (!received) return received.error();
  return Received<AnswerMessage>{std::move(received->envelope), std::move(received->message)};
}

}  // namespace

core::Result<Received<AnswerMessage>> read_answer(const MessageSchemas& schemas, MessageType type,
                                                  const nlohmann::json& message) {
  switch (type) {
    case MessageType::kRefereeRegisterResponse:
      return read_as<RefereeRegisterResponse>(schemas, message);
    case MessageType::kLeagueRegisterResponse:
      return read_as<LeagueRegisterResponse>(schemas, message);
    case MessageType::kGameJoinAck:
      return read_as<GameJoinAck>(schemas, message);
    case MessageType::kChooseParityResponse:
      return read_as<ChooseParityResponse>(schemas, message);
    case MessageType::kLeagueQueryResponse:
      return read_as<LeagueQueryResponse>(schemas, message);
    default:
      return core::Error{core::ErrorCode::kInternalError,
                         std::string(wire_name(type)) + " answers no call", ""};
  }
}

}  // namespace league::envelope
