#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "common/mcp/client/client_session.h"

namespace league::mcp {

/// The header fields of an answer whose status refuses; null where there is none.
[[nodiscard]] inline std::shared_ptr<const rpc::HeaderMap> headers_of_refusal(
    const transport::CallOutcome& outcome) {
  if (outcome.refusal_headers) return outcome.refusal_headers;
  const auto* http = outcome.context.transport.as_http();
  return http != nullptr && http->status && *http->status >= 400 ? http->headers : nullptr;
}

/// A request between request() and its end.
struct ClientSession::Call {
  RequestId id = 0;
  SessionRequest request;
  Completion completion;
  std::uint64_t generation = 0;  ///< of the agreement under which it was sent
  bool had_session = false;
  rpc::SharedText bytes;  ///< as it was sent last
  bool was_renewed = false;
  bool was_renewed_at_400 = false;
  bool has_listed = false;  ///< for the header fields of its arguments
};

}  // namespace league::mcp
