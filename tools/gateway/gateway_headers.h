#pragma once

#include <string>
#include <utility>

#include "common/rpc/context.h"
#include "common/rpc/http_headers.h"
#include "common/transport/client/http_client_options.h"

namespace league::tools::gateway {

/// The header field that the gateway adds to every request to an HTTP backend (RFC 9110 §7.6.3), so
/// that the backend does not mistake clients for programs on the gateway's machine.
inline const std::pair<std::string, std::string> kVia{"Via", "1.1 league-gateway"};

/// The header fields of a client's POST that are passed on to the backend: all but those of the
/// body (content-*, transfer-encoding), of the connection (host, connection and what it names,
/// keep-alive, te, trailer, upgrade, expect, proxy-*), of negotiation (accept*), pseudo fields
/// (`:path`), `origin`, which the backend would judge by its own rules, and those of MCP's
/// transport (mcp-*, last-event-id), which belong to the client's own session. `kVia` is added.
/// Pure. Source: the design of a proxy for legacy servers (docs/decisions.md).
[[nodiscard]] transport::client::HttpHeaders headers_for_backend(const rpc::HeaderMap& headers);

/// The fields of a client of 2026-07-28 that repeat arguments of a tool (`Mcp-Param-NAME`), for a
/// backend of the same revision, which compares them. Pure.
[[nodiscard]] transport::client::HttpHeaders argument_headers(const rpc::MessageContext& context);

}  // namespace league::tools::gateway
