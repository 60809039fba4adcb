#pragma once

#include "common/rpc/http_headers.h"
#include "common/transport/client/http_client_options.h"

namespace league::tools {

/// The fields of a client's POST that go along to the backend: all but those of the body
/// (content-*, transfer-encoding), of the connection (host, connection and what it names,
/// keep-alive, te, trailer, upgrade, expect, proxy-*), of negotiation (accept*), pseudo fields
/// (`:path`), `origin`, which the backend would judge by its own rules, and those of MCP's
/// transport (mcp-*, last-event-id), which belong to the client's own session. Pure. Source: the
/// design of a proxy for legacy servers (docs/decisions.md).
[[nodiscard]] transport::HttpHeaders headers_for_backend(const rpc::HeaderMap& headers);

}  // namespace league::tools
