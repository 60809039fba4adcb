#include "common/agent/dialects/request_dialect.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/core/text.h"
#include "common/schema/json_fields.h"

namespace league::agent::dialects {
namespace {

using core::Error;
using core::ErrorCode;
using envelope::Leniency;
using envelope::MessageType;
using nlohmann::json;
using Outcome = std::variant<IncomingRequest, RpcRefusal>;

bool names_a_type(const json& value) { return value.is_object() && value.contains("message_type"); }

/// The league message inside `params`, in whichever place the bot put it.
json find_message(json params, envelope::Leniencies& taken) {
  if (!params.is_object()) return json::object();
  if (names_a_type(params)) return params;
  for (const auto& [name, leniency] : {std::pair("message", Leniency::kParamsMessage),
                                       std::pair("arguments", Leniency::kParamsArguments)}) {
    if (auto it = params.find(name); it != params.end() && it->is_object()) {
      taken.add(leniency);
      return std::move(*it);
    }
  }
  return params;
}

bool is_generic_method(std::string_view method) {
  constexpr std::array kGeneric = {std::string_view("mcp_message"),
                                   std::string_view("handle_message"), std::string_view("message")};
  return std::ranges::find(kGeneric, method) != kGeneric.end();
}

std::string_view type_name_inside(const json& message) {
  return schema::text_at(message, "message_type");
}

std::optional<MessageType> type_inside(const json& message) {
  return envelope::message_type_from_wire(type_name_inside(message));
}

Leniency method_leniency(std::string_view method, MessageType type) {
  if (method == envelope::wire_name(type)) return Leniency::kMethodMessageType;
  return method == core::lower_case(envelope::wire_name(type)) ? Leniency::kMethodLowerCaseType
                                                               : Leniency::kMethodAlias;
}

}  // namespace

CallStyle style_of(const IncomingRequest& request) {
  const auto& taken = request.leniencies;
  if (request.shape == ReplyShape::kBare) return CallStyle::kBareBody;
  if (taken.contains(Leniency::kMethodMessageType)) return CallStyle::kMessageType;
  if (taken.contains(Leniency::kMethodLowerCaseType)) return CallStyle::kLowerCaseType;
  if (taken.contains(Leniency::kMethodGeneric)) return CallStyle::kHandleMessage;
  if (taken.contains(Leniency::kMethodToolsCall)) return CallStyle::kToolsCall;
  return CallStyle::kToolName;
}

bool is_bare_message(const json& document) {
  return names_a_type(document) && !document.contains("jsonrpc") && !document.contains("method");
}

std::optional<IncomingRequest> read_plain(schema::JsonNode document, envelope::Role receiver) {
  constexpr std::size_t kMembers = 4;
  using schema::JsonType;
  const schema::JsonNode params = document.find("params");
  const bool is_frame = document.size() == kMembers && document.find("jsonrpc").text() == "2.0" &&
                        params.is(JsonType::kObject) && !params.find("_meta");
  const schema::JsonNode id = document.find("id");
  const auto number = id.integer();
  const bool is_id = number || (id.is(JsonType::kString) && id.text().size() <= core::kMostEchoed);
  if (!is_frame || !is_id) return std::nullopt;
  const std::string_view method = document.find("method").text();
  const auto known = envelope::message_type_from_method(method, receiver);
  if (!known || known->is_alias) return std::nullopt;
  IncomingRequest request;
  request.id = number ? rpc::Id(*number) : rpc::Id(std::string(id.text()));
  request.method = std::string(method);
  request.type = known->type;
  return request;
}

Outcome RequestReader::read_bare(json message) const {
  IncomingRequest request;
  request.shape = ReplyShape::kBare;
  request.message = std::move(message);
  request.leniencies.add(Leniency::kBareRequestBody);
  request.type = type_inside(request.message);
  if (!request.type) {
    return RpcRefusal{request.id, rpc::StandardCode::kInvalidRequest,
                      Error{ErrorCode::kUnknownMessageType,
                            "message_type is not a message of league.v2", "/message_type"}};
  }
  request.method = std::string(envelope::spec(*request.type).method);
  return request;
}

Outcome RequestReader::read(rpc::Message frame) const {
  IncomingRequest request;
  json params;
  if (auto* call = std::get_if<rpc::Request>(&frame)) {
    request.id = std::move(call->id);
    request.method = std::move(call->method);
    params = std::move(call->params);
  } else if (auto* note = std::get_if<rpc::Notification>(&frame)) {
    request.wants_reply = false;
    request.method = std::move(note->method);
    params = std::move(note->params);
  } else {
    return RpcRefusal{rpc::Id{}, rpc::StandardCode::kInvalidRequest,
                      Error{ErrorCode::kUnexpectedMessage,
                            "this endpoint expects a request, but got a response", "/"}};
  }
  request.message = std::move(params);
  return route(std::move(request));
}

Outcome RequestReader::read_tool_call(IncomingRequest request) const {
  request.shape = ReplyShape::kToolResult;
  return route(std::move(request));
}

Outcome RequestReader::route(IncomingRequest request) const {
  if (is_tool(request.method)) {
    if (!request.message.is_object()) request.message = json::object();
    return request;
  }
  auto known = envelope::message_type_from_method(request.method, receiver);
  request.message = find_message(std::move(request.message), request.leniencies);
  if (known) {
    request.type = known->type;
    if (known->is_alias) request.leniencies.add(method_leniency(request.method, known->type));
    return request;
  }
  request.type = type_inside(request.message);
  if (!request.type && tool_alias) {
    auto tool = tool_alias(request.method);
    if (tool.empty()) tool = tool_alias(type_name_inside(request.message));
    if (!tool.empty()) {
      request.leniencies.add(is_generic_method(request.method) ? Leniency::kMethodGeneric
                                                               : Leniency::kMethodAlias);
      request.method = tool;
      return request;
    }
  }
  if (!request.type) {
    return RpcRefusal{request.id, rpc::StandardCode::kMethodNotFound,
                      Error{ErrorCode::kUnknownMessageType,
                            "method \"" + request.method.substr(0, 64) +
                                "\" is not a tool of this agent, and params.message_type is not a "
                                "league.v2 message",
                            "/method"}};
  }
  if (envelope::spec(*request.type).method.empty())
    request.leniencies.add(Leniency::kAnswerPostedBack);
  request.leniencies.add(is_generic_method(request.method) ? Leniency::kMethodGeneric
                                                           : Leniency::kMethodUnknownRouted);
  return request;
}

}  // namespace league::agent::dialects
