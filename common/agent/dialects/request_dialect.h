#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/agent/dialects/call_dialects.h"
#include "common/core/result.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_type.h"
#include "common/rpc/codec.h"
#include "common/rpc/message.h"
#include "common/schema/json_tree.h"

namespace league::agent::dialects {

/// How a peer framed its request; the answer is framed in the same way.
enum class ReplyShape {
  kResult,  ///< JSON-RPC: the message is `result`
  kToolResult,  ///< MCP `tools/call`: the message is `result.structuredContent`, and again as text
  kBare,  ///< the request was a bare message, so the answer is one
};

/// A request taken apart, in whatever dialect it was written (protocol §9).
struct IncomingRequest {
  rpc::Id id;
  bool wants_reply = true;  ///< false for a JSON-RPC notification
  ReplyShape shape = ReplyShape::kResult;
  std::string method;  ///< the tool's name for `tools/call`
  std::optional<envelope::MessageType> type;  ///< nothing for a tool without a league message
  nlohmann::json message;  ///< the league message or the tool's arguments; an object
  envelope::Leniencies leniencies;  ///< of method and placement
  std::string_view result_tail = {};  ///< see mcp::Responder; outlives the request
};

/// The style in which `request` was sent; its sender probably wants to be called in the same style.
/// Nothing can be concluded about clients with an MCP session.
[[nodiscard]] CallStyle style_of(const IncomingRequest& request);

/// A refusal before the league's rules are applied.
struct RpcRefusal {
  rpc::Id id;
  rpc::StandardCode code = rpc::StandardCode::kInvalidRequest;
  core::Error why;
};

/// What the reader has to know about the agent that receives the requests.
struct RequestReader {
  envelope::Role receiver;
  /// Whether a name is one of the receiver's tools that do not carry league messages (`ping`).
  std::function<bool(std::string_view)> is_tool;
  /// See AgentServerOptions; may be empty.
  std::function<std::string_view(std::string_view)> tool_alias = {};

  /// Determines what a JSON-RPC frame asks for: from the method if it is known, otherwise from
  /// `message_type`. Pure.
  [[nodiscard]] std::variant<IncomingRequest, RpcRefusal> read(rpc::Message frame) const;
  /// The same for a call by `tools/call`: `request` is complete except for its type. Pure.
  [[nodiscard]] std::variant<IncomingRequest, RpcRefusal> read_tool_call(
      IncomingRequest request) const;
  /// The same for a league message without a frame.
  [[nodiscard]] std::variant<IncomingRequest, RpcRefusal> read_bare(nlohmann::json message) const;

 private:
  [[nodiscard]] std::variant<IncomingRequest, RpcRefusal> route(IncomingRequest request) const;
};

/// The request of a JSON-RPC frame in the protocol's own form: exactly `jsonrpc`, `id`, `method`
/// and `params`, the method the one of a message that `receiver` gets, and no `_meta` in `params`,
/// which are the message and are not copied. Nothing for every other document. Pure.
[[nodiscard]] std::optional<IncomingRequest> read_plain(schema::JsonNode document,
                                                        envelope::Role receiver);

/// True for a league message without a JSON-RPC frame.
[[nodiscard]] bool is_bare_message(const nlohmann::json& document);

}  // namespace league::agent::dialects
