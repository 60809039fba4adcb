#pragma once

#include <string>
#include <string_view>

namespace league::transport::http {

/// Why a request is not served: the answer of the front or the EdgeRules instead of the handler's.
struct HttpRefusal {
  int status = 400;
  std::string text;  ///< names the rule and what to do
};

/// The body of a refusal: a JSON-RPC error with id null, since no id has been read. Codes: -32700
/// for 400, -32600 for every other fault of the peer, -32603 for ours.
[[nodiscard]] std::string refusal_body(const HttpRefusal& refusal);

/// The text of a refusal for which nobody has given one.
[[nodiscard]] std::string refusal_text(int status);

/// `HTTP/1.1 404 Not Found`, without the line end.
[[nodiscard]] std::string status_line(int status);

/// A whole HTTP response that refuses and closes. For faults that are found before a request is
/// complete; everything else is written by httplib.
[[nodiscard]] std::string refusal_response(const HttpRefusal& refusal);

/// The time for the field `Date`, as RFC 9110 §5.6.7 writes it; made once a second for each thread.
[[nodiscard]] const std::string& date_now();

}  // namespace league::transport::http
