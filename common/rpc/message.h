#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "common/rpc/id.h"

namespace league::rpc {

/// The codes that JSON-RPC 2.0 §5.1 defines. We send no others (protocol §5).
enum class StandardCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
};

/// The specification's text for a code: `Method not found`.
[[nodiscard]] std::string_view standard_message(StandardCode code);

/// Why a request failed.
struct ErrorObject {
  int code = 0;
  std::string message;
  nlohmann::json data;  ///< null: absent

  bool operator==(const ErrorObject&) const = default;
};

/// A call that expects an answer.
struct Request {
  Id id;
  std::string method;
  nlohmann::json params;  ///< an object, an array, or null: absent

  bool operator==(const Request&) const = default;
};

/// A call that expects no answer.
struct Notification {
  std::string method;
  nlohmann::json params;  ///< an object, an array, or null: absent

  bool operator==(const Notification&) const = default;
};

/// The answer to a request: an error, or else a result.
struct Response {
  Id id;
  nlohmann::json result;
  std::optional<ErrorObject> error;
  bool operator==(const Response&) const = default;
};

/// One JSON-RPC 2.0 message. A value; not thread-safe.
using Message = std::variant<Request, Notification, Response>;

[[nodiscard]] Request make_request(Id id, std::string method, nlohmann::json params = nullptr);
[[nodiscard]] Notification make_notification(std::string method, nlohmann::json params = nullptr);
[[nodiscard]] Response make_result(Id id, nlohmann::json result);
[[nodiscard]] Response make_error(Id id, ErrorObject error);
/// With the specification's text, and `data` if it is not null.
[[nodiscard]] Response make_error(Id id, StandardCode code, nlohmann::json data = nullptr);

/// The method of a request or notification, valid as long as `message`; empty for a response.
[[nodiscard]] std::string_view method_of(const Message& message);

}  // namespace league::rpc
