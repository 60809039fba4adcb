#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/envelope/message_type.h"
#include "common/rpc/message.h"

namespace league::agent::dialects {

/// How a peer wants to be called (protocol §9).
enum class CallStyle {
  kToolName,  ///< method `choose_parity`
  kMessageType,  ///< method `CHOOSE_PARITY_CALL`
  kLowerCaseType,  ///< method `choose_parity_call`
  kHandleMessage,  ///< method `handle_message`, params `{message}`
  kToolsCall,  ///< method `tools/call`, params `{name, arguments}`
  kBareBody,  ///< the message as the HTTP body, without JSON-RPC
  kMcp,  ///< `tools/call` within a session that was negotiated first: a plain MCP server
};

/// The name in assignments and logs: `tool_name`, `message_type`, `lower_case_type`,
/// `handle_message`, `bare_body`, `tools_call`, `mcp`.
[[nodiscard]] std::string_view call_style_name(CallStyle style);
[[nodiscard]] std::optional<CallStyle> parse_call_style(std::string_view name);

/// One way of calling a peer with one type of message.
struct CallDialect {
  CallStyle style = CallStyle::kToolName;
  /// The method, or the tool of `tools/call`; for a bare body the tool's name. It must outlive
  /// this.
  std::string_view name;
  bool is_alias = false;  ///< `name` is not the name that the protocol defines

  bool operator==(const CallDialect&) const = default;
};

/// All ways of calling with `type`, each once: first those of the style `first`, then tool name,
/// message type, known aliases, `handle_message`, bare body, `tools/call`. If `first` is kMcp, only
/// calls in a session are listed; otherwise none are, since the caller decides whether it can reach
/// plain MCP servers.
[[nodiscard]] std::vector<CallDialect> call_dialects(envelope::MessageType type, CallStyle first);

/// The JSON-RPC frame of `message_bytes` (a league message) in this dialect.
[[nodiscard]] std::string frame_call(const CallDialect& way, const rpc::Id& id,
                                     std::string_view message_bytes);

/// Whether `error`, the answer to a call in the dialect `way`, says that the peer has no such
/// method or tool: -32601, or another code that bots use for this together with a text that says
/// so, unless the text names another method than the one that was called: then the peer only quotes
/// somebody else's error. With `is_search` (nothing is known about the peer yet), "missing required
/// fields" counts too, because peers that expect every message in one wrapper answer like that.
[[nodiscard]] bool says_no_such_method(const rpc::ErrorObject& error, const CallDialect& way,
                                       bool is_search);
/// Whether `error` says that the peer does not know the wrapper itself (`tools/call`,
/// `handle_message`), as opposed to the name in it.
[[nodiscard]] bool says_no_such_wrapper(const rpc::ErrorObject& error, const CallDialect& way);

}  // namespace league::agent::dialects
