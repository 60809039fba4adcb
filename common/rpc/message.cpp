#include "common/rpc/message.h"

#include <utility>

namespace league::rpc {

std::string_view standard_message(StandardCode code) {
  switch (code) {
    case StandardCode::kParseError:
      return "Parse error";
    case StandardCode::kInvalidRequest:
      return "Invalid Request";
    case StandardCode::kMethodNotFound:
      return "Method not found";
    case StandardCode::kInvalidParams:
      return "Invalid params";
    case StandardCode::kInternalError:
      return "Internal error";
  }
  return "Internal error";
}

Request make_request(Id id, std::string method, nlohmann::json params) {
  return {.id = std::move(id), .method = std::move(method), .params = std::move(params)};
}

Notification make_notification(std::string method, nlohmann::json params) {
  return {.method = std::move(method), .params = std::move(params)};
}

Response make_result(Id id, nlohmann::json result) {
  return {.id = std::move(id), .result = std::move(result), .error = std::nullopt};
}

Response make_error(Id id, ErrorObject error) {
  return {.id = std::move(id), .result = nullptr, .error = std::move(error)};
}

Response make_error(Id id, StandardCode code, nlohmann::json data) {
  return make_error(std::move(id), {.code = static_cast<int>(code),
                                    .message = std::string(standard_message(code)),
                                    .data = std::move(data)});
}

std::string_view method_of(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) return request->method;
  if (const auto* notification = std::get_if<Notification>(&message)) return notification->method;
  return {};
}

}  // namespace league::rpc
