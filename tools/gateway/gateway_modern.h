#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/mcp/signs.h"
#include "common/rpc/context.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools::gateway {

/// The revision that a client's message names, read before it is parsed.
struct ClientEra {
  bool is_modern = false;  ///< 2026-07-28
  std::optional<mcp::ModernFault> fault;  ///< why a modern message is refused
};

/// Pure. Does not check header fields that repeat arguments, since only the backend knows its
/// tools.
[[nodiscard]] ClientEra era_of(const nlohmann::json& document, const rpc::MessageContext& context);

/// The request whose answer is a stream of notifications (2026-07-28).
inline constexpr std::string_view kListenMethod = "subscriptions/listen";

/// Whether a gateway supports this method in revision 2026-07-28.
[[nodiscard]] bool is_modern_method(std::string_view method);

/// The result of `server/discover`, made from the result of GatewayBackend::describe.
[[nodiscard]] nlohmann::json discovered(nlohmann::json description);

/// Adds to an answer what revision 2026-07-28 requires and a backend of another revision did not
/// provide: `resultType`, `serverInfo`, how long lists may be kept; for unknown methods HTTP status
/// 404. `server_info` is an object with name and version.
void complete_modern(std::string_view method, const nlohmann::json& server_info,
                     GatewayAnswer& answer);

}  // namespace league::tools::gateway
