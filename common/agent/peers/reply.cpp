#include "common/agent/peers/reply.h"

#include <nlohmann/json.hpp>

#include "common/envelope/envelope.h"
#include "common/envelope/message_type.h"
#include "common/mcp/answers.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"

namespace league::agent::peers {
namespace {

using nlohmann::json;

/// Whether the message is a refusal: a tool result that carries it is marked as an error for MCP
/// clients.
bool is_refusal(const json& message) {
  const auto& name = schema::text_at(message, "message_type");
  return name == envelope::wire_name(envelope::MessageType::kLeagueError) ||
         name == envelope::wire_name(envelope::MessageType::kGameError);
}

void note_verdict(rpc::MessageNotes& notes, const core::Error& error) {
  notes.verdict = error.code;
  notes.fault = error.message;
}

}  // namespace

std::shared_ptr<rpc::MessageNotes> Reply::reply_notes(const json& message) const {
  auto notes = std::make_shared<rpc::MessageNotes>();
  notes->conversation_id = envelope::conversation_id_in(message);
  if (notes->conversation_id.empty()) notes->conversation_id = target_.request->conversation_id;
  notes->match_id = target_.request->match_id;
  notes->peer = target_.request->peer;
  notes->message_type = schema::text_at(message, "message_type");
  return notes;
}

void Reply::send_bytes(std::string bytes, int http_status, std::function<void()> after_sent) {
  transport::link::OutboundReply out;
  if (target_.wants_reply) {
    out.bytes = std::move(bytes);
    out.http_status = http_status;
  } else {
    out.http_status = 202;
  }
  if (notes_) out.notes = notes_;
  out.after_sent = std::move(after_sent);
  slot_.send(std::move(out));
}

void Reply::send(const json& result, std::function<void()> after_sent) {
  send_result(result, target_.shape == dialects::ReplyShape::kToolResult && is_refusal(result),
              std::move(after_sent));
}

void Reply::send_result(const json& result, bool is_error, std::function<void()> after_sent) {
  notes_ = reply_notes(result);
  std::string bytes;
  switch (target_.shape) {
    case dialects::ReplyShape::kBare:
      bytes = rpc::to_json_text(result);
      break;
    case dialects::ReplyShape::kResult:
      bytes = rpc::encode_result(target_.id, rpc::to_json_text(result));
      break;
    case dialects::ReplyShape::kToolResult:
      bytes = rpc::encode_result(
          target_.id,
          mcp::encode_tool_result(rpc::to_json_text(result), is_error, target_.result_tail));
      break;
  }
  send_bytes(std::move(bytes), 200, std::move(after_sent));
}

void Reply::acknowledge(std::function<void()> after_sent) {
  send({{"status", "ok"}}, std::move(after_sent));
}

void Reply::send_raw(std::string bytes) {
  notes_ = reply_notes(json::object());
  send_bytes(std::move(bytes), 200, {});
}

void Reply::refuse(const core::Error& error) {
  note_verdict(*target_.request, error);
  if (league_error_ != nullptr && *league_error_) {
    // An invalid conversation id is not repeated.
    const std::string& said = target_.request->conversation_id;
    send_result(
        (*league_error_)(error, *target_.request,
                         core::ConversationId(envelope::is_conversation_id(said) ? said : "")),
        true, {});
    return;
  }
  notes_ = reply_notes(json::object());
  if (target_.shape == dialects::ReplyShape::kToolResult) {
    std::string text = rpc::to_json_text(mcp::error_data(error));
    send_bytes(
        rpc::encode_result(target_.id, mcp::encode_tool_result(text, true, target_.result_tail)),
        200, {});
  } else {
    send_bytes(mcp::encode_fault(target_.id, rpc::StandardCode::kInvalidParams, error), 200, {});
  }
}

void Reply::refuse_rpc(rpc::StandardCode code, const core::Error& error, int http_status) {
  note_verdict(*target_.request, error);
  notes_ = reply_notes(json::object());
  send_bytes(mcp::encode_fault(target_.id, code, error), http_status, {});
}

}  // namespace league::agent::peers
