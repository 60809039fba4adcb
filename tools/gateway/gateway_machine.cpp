#include "tools/gateway/gateway_machine.h"

#include "common/mcp/revision.h"
#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"

namespace league::tools::gateway {
namespace {

using nlohmann::json;

/// The gateway uses its own ids on the channel, since the client's id may be any value.
constexpr std::int64_t kInitializeId = 1;
constexpr std::int64_t kRequestId = 2;

std::string initialize_frame() {
  json params = {{"protocolVersion", mcp::kNewestLegacyRevision},
                 {"capabilities", json::object()},
                 {"clientInfo", {{"name", "league-gateway"}, {"version", LEAGUE_VERSION}}}};
  return rpc::encode_request(rpc::Id(kInitializeId), "initialize", params.dump());
}

}  // namespace

std::string_view gateway_state_name(GatewayState state) {
  switch (state) {
    case GatewayState::kWaitEndpoint:
      return "wait_endpoint";
    case GatewayState::kInitializing:
      return "initializing";
    case GatewayState::kInitialized:
      return "initialized";
    case GatewayState::kWaitResponse:
      return "wait_response";
    case GatewayState::kDone:
      return "done";
    case GatewayState::kFailed:
      return "failed";
  }
  return "failed";
}

GatewayMachine::GatewayMachine(rpc::Request request) : request_(std::move(request)) {}

GatewayMachine::Actions GatewayMachine::on_endpoint() {
  if (state_ != GatewayState::kWaitEndpoint) return {};
  state_ = GatewayState::kInitializing;
  return {Send{initialize_frame()}};
}

GatewayMachine::Actions GatewayMachine::on_message(std::string_view bytes) {
  if (has_ended()) return {};
  auto document = schema::parse_json(bytes, schema::kMcpLimits);
  if (!document)
    return fail("the server sent an event that is not JSON: " + document.error().message);
  Actions actions;
  for (auto& frame : rpc::decode(std::move(*document)).frames) {
    auto* message = std::get_if<rpc::Message>(&frame);
    if (message == nullptr) {
      note_stray(std::get<rpc::InvalidRequest>(frame).id, "a message without method and result");
      continue;
    }
    if (auto* response = std::get_if<rpc::Response>(message)) {
      for (auto& action : on_response(*response)) actions.push_back(std::move(action));
    } else if (auto* request = std::get_if<rpc::Request>(message)) {
      // The only request that such a channel answers for the server is `ping`.
      actions.emplace_back(
          Send{request->method == "ping"
                   ? rpc::encode_result(request->id, "{}")
                   : rpc::encode_error(request->id, rpc::StandardCode::kMethodNotFound)});
    } else if (state_ == GatewayState::kWaitResponse) {
      actions.emplace_back(Forward{rpc::encode(*message)});
    }
  }
  return actions;
}

GatewayMachine::Actions GatewayMachine::on_response(const rpc::Response& response) {
  const auto* id = response.id.number();
  if (state_ == GatewayState::kInitializing && id != nullptr && *id == kInitializeId)
    return on_initialized(response);
  if (state_ != GatewayState::kWaitResponse || id == nullptr || *id != kRequestId) {
    note_stray(response.id, "an answer");
    return {};
  }
  state_ = GatewayState::kDone;
  Answer answer{response};
  answer.response.id = request_.id;
  return {std::move(answer)};
}

void GatewayMachine::note_stray(const rpc::Id& id, std::string_view what) {
  const bool is_first = state_ == GatewayState::kInitializing;
  std::string shown;
  id.append_to(shown);
  stray_ = "; " + std::string(what) + " with the id " + shown.substr(0, 64) +
           " came, but the id of the request is " +
           std::to_string(is_first ? kInitializeId : kRequestId);
}

GatewayMachine::Actions GatewayMachine::on_initialized(const rpc::Response& response) {
  if (response.error) {
    return fail("the server refused initialize with the error " +
                std::to_string(response.error->code) + ": " +
                response.error->message.substr(0, 200));
  }
  if (!mcp::is_legacy_revision(schema::text_at(response.result, "protocolVersion")))
    return fail("the server's answer to initialize names no supported revision of MCP");
  state_ = GatewayState::kInitialized;
  return {Send{rpc::encode_notification("notifications/initialized", {}), /*awaits_receipt=*/true}};
}

GatewayMachine::Actions GatewayMachine::on_received() {
  if (state_ != GatewayState::kInitialized) return {};
  state_ = GatewayState::kWaitResponse;
  rpc::Request request = request_;
  request.id = rpc::Id(kRequestId);
  return {Send{rpc::encode(rpc::Message(std::move(request)))}};
}

GatewayMachine::Actions GatewayMachine::on_refused(const core::Error& why, int http_status) {
  return fail(why.message, http_status);
}

GatewayMachine::Actions GatewayMachine::on_closed(const core::Error& why) {
  return fail("the server's stream ended before the answer: " + why.message);
}

GatewayMachine::Actions GatewayMachine::on_timeout() {
  return fail("the server did not answer in time" + stray_);
}

GatewayMachine::Actions GatewayMachine::on_cancel() const {
  if (state_ != GatewayState::kWaitResponse) return {};
  const json params = {{"requestId", kRequestId},
                       {"reason", "the client has cancelled the request"}};
  return {Send{rpc::encode_notification("notifications/cancelled", params.dump())}};
}

GatewayMachine::Actions GatewayMachine::fail(const std::string& what, int http_status) {
  if (has_ended()) return {};
  json data = {{"phase", gateway_state_name(state_)}};
  if (http_status != 0) data["http_status"] = http_status;
  state_ = GatewayState::kFailed;
  rpc::ErrorObject error{static_cast<int>(rpc::StandardCode::kInternalError),
                         "gateway: " + what.substr(0, 500), std::move(data)};
  return {Answer{rpc::make_error(request_.id, std::move(error)), http_status}};
}

}  // namespace league::tools::gateway
