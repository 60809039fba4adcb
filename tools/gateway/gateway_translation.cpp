#include "tools/gateway/gateway_translation.h"

#include "common/mcp/protocol.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "tools/gateway/gateway_headers.h"
#include "tools/gateway/gateway_modern.h"

namespace league::tools::gateway {
namespace {

using nlohmann::json;

/// The progress token of a request, with which a client asks for notifications; null: none.
json progress_token_of(const rpc::Request& request) {
  if (!request.params.is_object()) return nullptr;
  auto meta = request.params.find("_meta");
  if (meta == request.params.end() || !meta->is_object()) return nullptr;
  return meta->value("progressToken", json(nullptr));
}

/// The parameters without the fields of `_meta` that an older backend does not know.
json older_params(json params) {
  if (!params.is_object() || !params.contains("_meta") || !params["_meta"].is_object())
    return params;
  for (std::string_view key : {mcp::kVersionKey, mcp::kClientCapabilitiesKey, mcp::kClientInfoKey})
    params["_meta"].erase(std::string(key));
  return params;
}

}  // namespace

mcp::client::SessionRequest session_request(const GatewayCall& call,
                                            const mcp::client::Negotiated& negotiated) {
  mcp::client::SessionRequest request;
  request.method = call.request.method;
  request.is_relayed = call.is_modern && negotiated.is_modern;
  // A client without header fields, such as one on standard streams, cannot repeat its arguments.
  if (request.is_relayed && call.context.transport.as_http() != nullptr)
    request.argument_headers = argument_headers(call.context);
  bool is_translated = call.is_modern && !negotiated.is_modern;
  if (!call.request.params.is_null()) {
    request.params =
        rpc::to_json_text(is_translated ? older_params(call.request.params) : call.request.params);
  }
  request.deadline = call.deadline;
  request.is_listening = call.request.method == kListenMethod;
  if (request.is_listening) request.deadline = core::Clock::Steady::max();
  request.on_request = call.on_request;
  if (!call.channel) return request;
  request.on_notification = [id = call.request.id,
                             channel = call.channel](const rpc::Notification& note) {
    rpc::Notification mine = note;
    name_subscription(id, mine.params);
    return channel->push(
        std::make_shared<const std::string>(rpc::encode(rpc::Message(std::move(mine)))));
  };
  json token = progress_token_of(call.request);
  if (token.is_null()) return request;
  request.on_progress = [token, channel = call.channel](const json& params) {
    json news = params;
    news["progressToken"] = token;
    channel->push(std::make_shared<const std::string>(
        rpc::encode_notification("notifications/progress", rpc::to_json_text(news))));
  };
  return request;
}

json announced(const mcp::client::Negotiated& negotiated, bool is_modern_client) {
  json all = json::object();
  for (const char* name : {"tools", "prompts", "resources", "completions", "logging"}) {
    auto found = negotiated.capabilities.find(name);
    if (found == negotiated.capabilities.end() || !found->is_object()) continue;
    const bool is_alike = negotiated.is_modern == is_modern_client;
    if (!is_alike && std::string_view(name) == "logging") continue;
    json& one = all[name] = *found;
    if (is_alike) continue;
    one.erase("listChanged");
    one.erase("subscribe");
  }
  return all;
}

json askable(const json& client_capabilities) {
  json all = json::object();
  if (!client_capabilities.is_object()) return all;
  for (const char* name : {"sampling", "elicitation", "roots"}) {
    auto found = client_capabilities.find(name);
    if (found != client_capabilities.end() && found->is_object()) all[name] = *found;
  }
  return all;
}

void name_subscription(const rpc::Id& client_id, json& params) {
  if (!params.is_object()) return;
  auto meta = params.find("_meta");
  if (meta == params.end() || !meta->is_object()) return;
  auto tag = meta->find(std::string(mcp::kSubscriptionKey));
  if (tag != meta->end()) *tag = client_id;
}

json server_info(const mcp::client::Negotiated& negotiated) {
  return {{"name", negotiated.server_name}, {"version", negotiated.server_version}};
}

}  // namespace league::tools::gateway
