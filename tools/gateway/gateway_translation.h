#pragma once

#include <nlohmann/json.hpp>

#include "common/mcp/client/client_session.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools {

/// A client's request as the backend receives it. If both speak 2026-07-28, the gateway only passes
/// it on; an older backend does not see what the client says about that revision. Pure.
[[nodiscard]] mcp::SessionRequest session_request(const GatewayCall& call,
                                                  const mcp::Negotiated& negotiated);

/// What of a backend's capabilities passes the gateway to a client of 2026-07-28, or of an older
/// revision. News passes only where both are of one kind: subscriptions of 2026-07-28 and sessions
/// are not translated into each other, and the former knows no log level of a session.
[[nodiscard]] nlohmann::json announced(const mcp::Negotiated& negotiated, bool is_modern_client);

/// The requests that a backend may make to a client: its sampling, elicitation and roots, and no
/// other capabilities that it announces. Empty: none.
[[nodiscard]] nlohmann::json askable(const nlohmann::json& client_capabilities);

/// A result or notification of a subscription, under the client's id in place of the backend's.
/// Leaves others as they are.
void name_subscription(const rpc::Id& client_id, nlohmann::json& params);

/// An object with the name and version of a backend.
[[nodiscard]] nlohmann::json server_info(const mcp::Negotiated& negotiated);

}  // namespace league::tools
