#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "common/mcp/signs.h"
#include "common/rpc/context.h"
#include "tools/gateway/gateway_backend.h"

namespace league::tools {

/// The revision that a client's message names, read before it is parsed.
struct ClientEra {
  bool is_modern = false;  ///< 2026-07-28
  std::optional<mcp::ModernFault> fault;  ///< why a modern message is refused
};

/// Pure. Arguments that header fields repeat are not checked: only the backend knows its tools.
[[nodiscard]] ClientEra era_of(const nlohmann::json& document, const rpc::MessageContext& context);

/// The request whose answer is a stream of news (2026-07-28).
inline constexpr std::string_view kListenMethod = "subscriptions/listen";

/// Whether 2026-07-28 has this method at a gateway.
[[nodiscard]] bool is_modern_method(std::string_view method);

/// The result of `server/discover`, made of what GatewayBackend::describe gives.
[[nodiscard]] nlohmann::json discovered(nlohmann::json description);

/// Gives an answer what 2026-07-28 wants of it, as far as a backend of another revision did not:
/// `resultType`, `serverInfo`, how long lists may be kept; for unknown methods HTTP status 404.
/// `server_info` is an object with name and version.
void complete_modern(std::string_view method, const nlohmann::json& server_info,
                     GatewayAnswer& answer);

}  // namespace league::tools
