#pragma once

#include "common/rpc/http_headers.h"

namespace league::transport {

/// The types of answers that a client accepts (RFC 9110 §12.5.1, without preferences).
struct AcceptedTypes {
  bool json = false;
  bool event_stream = false;  ///< named explicitly; a wildcard alone means JSON
};

/// Without an Accept header: JSON.
[[nodiscard]] AcceptedTypes accepted_types(const rpc::HeaderMap& headers);

}  // namespace league::transport
