#include "common/envelope/read_message.h"

#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>

namespace league::envelope {
namespace {

/// Calls `reader.operator()<Message>()` for the answer `type`; `otherwise` for a message that
/// answers no call.
template <typename Out, typename Reader, typename... Answers>
Out of_answer(MessageType type, Reader reader, Out otherwise,
              std::type_identity<std::variant<Answers...>> /*unused*/) {
  const auto read_if = [&]<typename Answer>(std::type_identity<Answer> /*unused*/) {
    if (Answer::kType == type) otherwise = reader.template operator()<Answer>();
  };
  (read_if(std::type_identity<Answers>{}), ...);
  return otherwise;
}

constexpr std::type_identity<AnswerMessage> kAnswers;

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
                                       std::string(wire_name(type)) + " answers no call", ""},
                           kAnswers);
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
  return of_answer<Answer>(type, read_as, std::nullopt, kAnswers);
}

}  // namespace league::envelope
