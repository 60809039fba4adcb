#include "common/agent/dialects/reply_dialect.h"

#include <algorithm>

#include "common/audit/record/masking.h"
#include "common/core/text.h"
#include "common/rpc/codec.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::agent::dialects {
namespace {

using core::Error;
using core::ErrorCode;
using envelope::Leniency;
using nlohmann::json;

/// Fields that show that an object is a league message even if the bot omits message_type.
bool looks_like_message(const json& value) {
  if (!value.is_object()) return false;
  for (const char* key :
       {"message_type", "parity_choice", "choice", "accept", "accepted", "protocol"}) {
    if (value.contains(key)) return true;
  }
  return false;
}

/// The error of a bare body such as `{"status":"error","message":"Unknown message type"}`, or of a
/// LEAGUE_ERROR that says it.
std::optional<rpc::ErrorObject> unknown_type_in(const json& message) {
  if (!message.is_object()) return std::nullopt;
  for (const char* name : {"message", "reason", "detail", "error_description", "error_name"}) {
    const std::string& text = schema::text_at(message, name);
    const std::string lower = core::lower_case(text);
    if (!lower.starts_with("unknown message type") && !lower.starts_with("unknown message_type") &&
        !lower.starts_with("unknown_message_type"))
      continue;
    rpc::ErrorObject error;
    error.message = text;
    return error;
  }
  return std::nullopt;
}

bool is_request_frame(const json& document) {
  return document.is_object() && document.contains("method") && document.contains("params") &&
         document["params"].is_object() && !document.contains("result");
}

/// `result.content[0].text`; null if it is missing.
const std::string* first_text(const json& result) {
  const json& content = schema::field_at(result, "content");
  if (!content.is_array() || content.empty()) return nullptr;
  return schema::field_at(content[0], "text").get_ptr<const std::string*>();
}

/// The text of first_text, parsed; null if it is not an object.
json message_in_text(const json& result) {
  const std::string* text = first_text(result);
  if (text == nullptr) return nullptr;
  auto parsed = schema::parse_json(*text);
  return parsed && parsed->is_object() ? std::move(*parsed) : json(nullptr);
}

/// The answer to a `tools/call` is a tool's result, as MCP defines it: its places for the message
/// are no leniency.
json unwrap_result(json result, CallStyle called, envelope::Leniencies& taken) {
  if (!result.is_object() || looks_like_message(result)) return result;
  const bool is_tool_result = called == CallStyle::kToolsCall || called == CallStyle::kMcp;
  for (const auto& [name, leniency] :
       {std::pair("structuredContent", Leniency::kResultStructuredContent),
        std::pair("response", Leniency::kResultResponse)}) {
    if (auto it = result.find(name); it != result.end() && it->is_object()) {
      if (!is_tool_result || leniency == Leniency::kResultResponse) taken.add(leniency);
      return std::move(*it);
    }
  }
  if (json inner = message_in_text(result); inner.is_object()) {
    if (!is_tool_result) taken.add(Leniency::kResultContentText);
    return inner;
  }
  return result;
}

void note_frame_leniencies(const rpc::ResponseLeniencies& found, envelope::Leniencies& taken) {
  if (found.null_error) taken.add(Leniency::kNullErrorBesideResult);
  if (found.null_result) taken.add(Leniency::kNullResultBesideError);
  if (found.missing_id) taken.add(Leniency::kIdNotEchoed);
  if (found.changed_id_type) taken.add(Leniency::kIdTypeChanged);
  if (found.foreign_id) taken.add(Leniency::kForeignId);
}

}  // namespace

bool looks_like_answer(const json& value) {
  return looks_like_message(value) || (value.is_object() && value.contains("match_id"));
}

bool says_received(const json& message) {
  if (!message.is_object()) return false;
  for (const char* key : {"parity_choice", "choice", "accept", "accepted"}) {
    if (message.contains(key)) return false;
  }
  return core::upper_case(schema::text_at(message, "status")) == "RECEIVED";
}

std::optional<rpc::ErrorObject> failed_tool(const json& result) {
  if (schema::field_at(result, "isError") != true) return std::nullopt;
  rpc::ErrorObject error;
  error.message = "the tool failed";
  if (const std::string* text = first_text(result)) error.message = *text;
  return error;
}

bool looks_like_plain_mcp(int http_status, const rpc::ErrorObject* error) {
  // What the official SDKs answer before initialize; TypeScript's uses -32000 for all such faults.
  constexpr int kServerFault = -32000;
  bool asks_for_something_else =
      http_status == 400 || http_status == 404 || http_status == 405 || http_status == 406;
  if (error == nullptr) return asks_for_something_else;
  return error->code == static_cast<int>(rpc::StandardCode::kInvalidRequest) ||
         error->code == static_cast<int>(rpc::StandardCode::kMethodNotFound) ||
         (error->code == static_cast<int>(rpc::StandardCode::kInvalidParams)) ||
         (error->code == kServerFault && asks_for_something_else);
}

core::Result<IncomingReply> read_reply(json document, const rpc::Id& id, CallStyle called) {
  IncomingReply reply;
  if (is_request_frame(document)) {
    reply.leniencies.add(Leniency::kReplyAsRequest);
    reply.message = std::move(document["params"]);
    return reply;
  }
  bool is_frame =
      document.is_object() && (document.contains("result") || document.contains("error"));
  if (!is_frame && document.is_object() && !document.contains("jsonrpc")) {
    reply.leniencies.add(Leniency::kBareReplyBody);
    reply.message = unwrap_result(std::move(document), called, reply.leniencies);
    reply.error = unknown_type_in(reply.message);
    return reply;
  }
  auto response = rpc::decode_response(std::move(document), id);
  if (!response) return response.error();
  note_frame_leniencies(response->leniencies, reply.leniencies);
  reply.error = std::move(response->response.error);
  if (!reply.error) reply.error = failed_tool(response->response.result);
  if (reply.error) return reply;
  reply.message = unwrap_result(std::move(response->response.result), called, reply.leniencies);
  return reply;
}

schema::JsonNode read_plain_result(schema::JsonNode document, const rpc::Id& id) {
  constexpr std::size_t kMembers = 3;
  if (document.size() != kMembers || document.find("jsonrpc").text() != "2.0") return {};
  const schema::JsonNode said = document.find("id");
  const bool is_answer = id.number() != nullptr ? said.integer() == *id.number()
                                                : id.text() != nullptr && said.text() == *id.text();
  const schema::JsonNode result = document.find("result");
  return is_answer && result.is(schema::JsonType::kObject) ? result : schema::JsonNode();
}

core::Error with_received(core::Error why, const json& received) {
  constexpr std::size_t kLongest = 300;
  const auto text = received.dump(-1, ' ', true, json::error_handler_t::replace);
  why.message += "; received: " + core::shown(audit::record::mask_secrets(text), kLongest);
  return why;
}

}  // namespace league::agent::dialects
