#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "common/mcp/client/client_session.h"
#include "common/transport/client/streamable_http_connection.h"

namespace league::mcp::client {

/// A request between the call of ask() and its end.
struct ClientSession::Call {
  Call(ClientSession& its_session, SessionRequest its_request)
      : session(its_session), id(session.next_id_++), request(std::move(its_request)) {
    session.calls_.emplace(id, this);
  }
  ~Call() { session.calls_.erase(id); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  ClientSession& session;
  const RequestId id;
  const SessionRequest request;
  std::uint64_t generation = 0;  ///< generation_ of the session when it was sent
  bool had_session = false;
  rpc::SharedText bytes;  ///< the bytes that were last sent
  bool was_renewed = false;
  bool was_renewed_at_400 = false;
  bool has_listed = false;  ///< tools were listed to find the header fields of the arguments
};

/// Why requests of a closed session fail.
[[nodiscard]] inline core::Error session_closed() {
  return {core::ErrorCode::kShuttingDown, "the session was closed", ""};
}

/// The HTTP status of an answer; 0: none.
[[nodiscard]] inline int http_status_of(const transport::link::CallOutcome& outcome) {
  const auto* http = outcome.context.transport.as_http();
  if (outcome.http_status == 0 && http != nullptr && http->status) return *http->status;
  return outcome.http_status;
}

/// The header fields of an answer with an error status; null if there are none.
[[nodiscard]] inline std::shared_ptr<const rpc::HeaderMap> headers_of_refusal(
    const transport::link::CallOutcome& outcome) {
  if (outcome.refusal_headers) return outcome.refusal_headers;
  const auto* http = outcome.context.transport.as_http();
  return http != nullptr && http->status && *http->status >= 400 ? http->headers : nullptr;
}

/// The client's connection, if it is one of Streamable HTTP.
[[nodiscard]] inline transport::client::StreamableHttpConnection* streamable_http(
    transport::caller::ConnectionClient& client) {
  return dynamic_cast<transport::client::StreamableHttpConnection*>(&client.connection());
}

}  // namespace league::mcp::client
