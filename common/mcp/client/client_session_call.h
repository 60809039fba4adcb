#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/mcp/client/client_session.h"

namespace league::mcp::client {

/// The header fields of an answer with an error status; null if there are none.
[[nodiscard]] inline std::shared_ptr<const rpc::HeaderMap> headers_of_refusal(
    const transport::link::CallOutcome& outcome) {
  if (outcome.refusal_headers) return outcome.refusal_headers;
  const auto* http = outcome.context.transport.as_http();
  return http != nullptr && http->status && *http->status >= 400 ? http->headers : nullptr;
}

/// A request between request() and its end.
struct ClientSession::Call {
  RequestId id = 0;
  SessionRequest request;
  Completion completion;
  std::uint64_t generation = 0;  ///< generation_ of the session when it was sent
  bool had_session = false;
  rpc::SharedText bytes;  ///< the bytes that were last sent
  bool was_renewed = false;
  bool was_renewed_at_400 = false;
  bool has_listed = false;  ///< tools were listed to find the header fields of the arguments
};

}  // namespace league::mcp::client
