#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "common/agent/dialects/call_dialects.h"
#include "common/core/result.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_type.h"
#include "common/rpc/message.h"
#include "common/schema/json_tree.h"

namespace league::agent::dialects {

/// An answer taken apart, in whatever dialect it was written.
struct IncomingReply {
  nlohmann::json message;  ///< the innermost object that could be the league message; null if none
  std::optional<rpc::ErrorObject> error;  ///< the peer's JSON-RPC error, or its tool's
  envelope::Leniencies leniencies;  ///< of frame and placement
};

/// Whether `value` has a field that only answers have. This tells answers from other bodies, such
/// as a web framework's error page.
[[nodiscard]] bool looks_like_answer(const nlohmann::json& value);

/// Whether `message` only says that the call was received (`status` RECEIVED) and has no field of
/// an answer: the peer will send its answer later, in a call of its own. Acknowledgements in other
/// words are treated as wrong answers, so that the round does not wait for them.
[[nodiscard]] bool says_received(const nlohmann::json& message);

/// The error of a tool whose result says `isError`, with the tool's text and the code 0, because
/// tools give no code; nothing for every other result.
[[nodiscard]] std::optional<rpc::ErrorObject> failed_tool(const nlohmann::json& result);

/// True for a refusal as plain MCP servers send it to a client that has not done the handshake: a
/// status that asks for something else (400, 404, 405, 406), or a JSON-RPC error about the request
/// itself.
[[nodiscard]] bool looks_like_plain_mcp(int http_status, const rpc::ErrorObject* error);

/// Finds the message in an answer to the request `id`, which was sent in the style `called`. Fails
/// with kInvalidReply if the answer contains nothing that could be one. Pure.
[[nodiscard]] core::Result<IncomingReply> read_reply(nlohmann::json document, const rpc::Id& id,
                                                     CallStyle called = CallStyle::kToolName);

/// The result of an answer to the request `id` in the protocol's own form: exactly `jsonrpc`, `id`
/// and an object `result`. No value for every other document. Pure.
[[nodiscard]] schema::JsonNode read_plain_result(schema::JsonNode document, const rpc::Id& id);

/// `why`, extended by the beginning of what was received instead of the expected answer, with every
/// secret masked.
[[nodiscard]] core::Error with_received(core::Error why, const nlohmann::json& received);

}  // namespace league::agent::dialects
