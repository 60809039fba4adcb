#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_type.h"
#include "common/rpc/message.h"

namespace league::agent {

/// How a peer wants to be called. We start with the tool's name; after -32601 the next is tried
/// (protocol §9).
enum class CallStyle {
  kToolName,  ///< method `choose_parity`
  kMessageType,  ///< method `CHOOSE_PARITY_CALL`
  kToolsCall,  ///< method `tools/call`, params `{name, arguments}`
  kMcp,  ///< `tools/call` within a session that was negotiated first: a plain MCP server
};

/// `tool_name`, `message_type`, `tools_call`, `mcp`: how assignments and logs name it.
[[nodiscard]] std::string_view call_style_name(CallStyle style);
[[nodiscard]] std::optional<CallStyle> parse_call_style(std::string_view name);
/// The style to try after `style`; nothing after the last. Sessions come after none of them by
/// themselves: who has a way to plain MCP servers decides.
[[nodiscard]] std::optional<CallStyle> next_call_style(CallStyle style);

/// The JSON-RPC frame of `message_bytes` (a league message) in that style.
[[nodiscard]] std::string frame_call(CallStyle style, envelope::MessageType type, const rpc::Id& id,
                                     std::string_view message_bytes);

/// An answer taken apart, whatever its dialect.
struct IncomingReply {
  nlohmann::json message;  ///< the innermost object that could be the league message; null if none
  std::optional<rpc::ErrorObject> error;  ///< the peer's JSON-RPC error
  envelope::Leniencies leniencies;  ///< of frame and placement
};

/// True for a refusal as plain MCP servers give it to who has not shaken hands: a status that asks
/// for something else (400, 404, 405, 406), or a JSON-RPC error about the request itself.
[[nodiscard]] bool looks_like_plain_mcp(int http_status, const rpc::ErrorObject* error);

/// Finds the message in an answer to the request `id`. Fails with kInvalidReply if nothing in it
/// could be one. Pure.
[[nodiscard]] core::Result<IncomingReply> read_reply(nlohmann::json document, const rpc::Id& id);

}  // namespace league::agent
