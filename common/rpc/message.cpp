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
  Request request;
  request.id = std::move(id);
  request.method = std::move(method);
  request.params = std::move(params);
  return request;
}

Notification make_notification(std::string method, nlohmann::json params) {
  Notification notification;
  notification.method = std::move(method);
  notification.params = std::move(params);
  return notification;
}

Response make_result(Id id, nlohmann::json result) {
  Response response;
  response.id = std::move(id);
  response.result = std::move(result);
  return response;
}

Response make_error(Id id, ErrorObject error) {
  Response response;
  response.id = std::move(id);
  response.error = std::move(error);
  return response;
}

Response make_error(Id id, StandardCode code, nlohmann::json data) {
  ErrorObject error;
  error.code = static_cast<int>(code);
  error.message = standard_message(code);
  error.data = std::move(data);
  return make_error(std::move(id), std::move(error));
}

std::string_view method_of(const Message& message) {
  if (const auto* request = std::get_if<Request>(&message)) return request->method;
  if (const auto* notification = std::get_if<Notification>(&message)) return notification->method;
  return {};
}

}  // namespace league::rpc
