#pragma once

#include <string_view>

#include "common/core/result.h"
#include "common/transport/link/endpoint.h"

namespace league::transport::client {

/// Resolves `reference`, an absolute URL, an absolute path or a relative path (RFC 3986 §5.2),
/// against `base`: an endpoint with base's scheme and address. Fails with kEndpointNotAllowed if it
/// leads to another origin (scheme, host, port), or is not a URL of printable ASCII up to 2,048
/// characters.
[[nodiscard]] core::Result<link::Endpoint> resolve_reference(const link::Endpoint& base,
                                                             std::string_view reference);

}  // namespace league::transport::client
