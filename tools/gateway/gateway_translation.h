#pragma once

#include <nlohmann/json.hpp>

#include "common/mcp/client/client_session.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools::gateway {

/// A client's request as the backend receives it. If both speak 2026-07-28, the gateway only passes
/// it on; for an older backend it removes the fields of that revision. Pure.
[[nodiscard]] mcp::client::SessionRequest session_request(
    const GatewayCall& call, const mcp::client::Negotiated& negotiated);

/// The backend's capabilities that the gateway announces to a client of revision 2026-07-28, or of
/// an older one. Notifications work only if both sides are of the same kind: subscriptions of
/// 2026-07-28 and sessions are not translated into each other, and the former have no log level.
[[nodiscard]] nlohmann::json announced(const mcp::client::Negotiated& negotiated,
                                       bool is_modern_client);

/// The requests that a backend may make to a client: its sampling, elicitation and roots, and no
/// other capabilities that it announces. Empty: none.
[[nodiscard]] nlohmann::json askable(const nlohmann::json& client_capabilities);

/// Replaces the backend's id by the client's in a result or notification of a subscription; leaves
/// others unchanged.
void name_subscription(const rpc::Id& client_id, nlohmann::json& params);

/// An object with the name and version of a backend.
[[nodiscard]] nlohmann::json server_info(const mcp::client::Negotiated& negotiated);

}  // namespace league::tools::gateway
