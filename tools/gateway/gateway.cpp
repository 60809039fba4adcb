#include "tools/gateway/gateway.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "common/mcp/revision.h"
#include "common/rpc/codec.h"
#include "common/schema/json_fields.h"
#include "common/schema/parse_json.h"
#include "tools/gateway/gateway_modern.h"

namespace league::tools::gateway {
namespace {

using core::ErrorCode;
using nlohmann::json;
using rpc::StandardCode;

constexpr std::string_view kChallenge = "WWW-Authenticate";

bool is_http(const rpc::MessageContext& context) { return context.transport.as_http() != nullptr; }

std::string header_of(const rpc::MessageContext& context, std::string_view name) {
  const auto* http = context.transport.as_http();
  auto value =
      http != nullptr && http->headers ? rpc::find_header(*http->headers, name) : std::nullopt;
  return std::string(value.value_or(std::string_view()));
}

/// The owner of a request: its session, or a connection of its own. Empty for HTTP without a
/// session, where the client is unknown.
std::string owner_of(const transport::link::Inbound& message) {
  if (message.channel && !is_http(message.context)) return message.channel->id();
  return header_of(message.context, "Mcp-Session-Id");
}

json own_server_info() { return {{"name", "league-gateway"}, {"version", LEAGUE_VERSION}}; }

/// The conversation that a league message contains.
std::string conversation_in(const rpc::Request& request) {
  const json& arguments = schema::field_at(request.params, "arguments");
  return schema::text_at(arguments, "conversation_id").substr(0, 64);
}

rpc::Response invalid_request(const rpc::Id& id, const char* why) {
  return rpc::make_error(id, {static_cast<int>(StandardCode::kInvalidRequest), why, nullptr});
}

}  // namespace

rpc::Response gateway_failure(const rpc::Id& id, const std::string& what, json data) {
  return rpc::make_error(id, {static_cast<int>(StandardCode::kInternalError),
                              "gateway: " + what.substr(0, 500), std::move(data)});
}

Gateway::Gateway(GatewayOptions options, GatewayBackend& backend, const core::Clock& clock,
                 core::RandomSource& random)
    : options_(std::move(options)),
      backend_(backend),
      clock_(clock),
      random_(random),
      questions_(options_.timer) {}

void pass_on_refusal(int http_status, const rpc::HeaderMap* headers, GatewayAnswer& answer) {
  constexpr std::size_t kLongestField = 4096;
  constexpr std::array<int, 4> kForTheClient{401, 403, 429, 503};
  const bool is_for_client = std::ranges::find(kForTheClient, http_status) != kForTheClient.end();
  if (!is_for_client || !answer.response.error) return;
  answer.http_status = http_status;
  json& data = answer.response.error->data;
  if (!data.is_object()) data = json::object();
  data["http_status"] = http_status;
  if (headers == nullptr) return;
  for (const auto& [name, key] : {std::pair(kChallenge, "www_authenticate"),
                                  std::pair(std::string_view("Retry-After"), "retry_after")}) {
    auto field = rpc::find_header(*headers, name);
    if (!field || field->size() > kLongestField) continue;
    data[key] = *field;
    answer.headers.emplace_back(name, *field);
  }
}

void Gateway::answer(const Slot& slot, const rpc::Response& response, int http_status) {
  GatewayAnswer whole(response);
  whole.http_status = http_status;
  answer(slot, std::move(whole));
}

void Gateway::answer(const Slot& slot, GatewayAnswer answer) {
  transport::link::OutboundReply reply;
  reply.bytes = rpc::encode(rpc::Message(std::move(answer.response)));
  reply.http_status = answer.http_status;
  reply.headers = std::move(answer.headers);
  slot->send(std::move(reply));
}

void Gateway::on_message(transport::link::Inbound message, transport::link::ReplySlot reply) {
  auto slot = std::make_shared<transport::link::ReplySlot>(std::move(reply));
  if (message.channel && !is_http(message.context) && options_.has_sessions)
    sessions_.note_connection(message.channel);
  auto document = schema::parse_json(message.bytes, schema::kMcpLimits);
  if (!document) {
    message.notes->verdict = document.error().code;
    message.notes->fault = document.error().message;
    return answer(slot, rpc::make_error({}, StandardCode::kParseError), 400);
  }
  auto era = era_of(*document, message.context);
  auto decoded = rpc::decode(std::move(*document), {.refuse_null_id = true, .max_batch = 1});
  auto& frame = decoded.frames.front();
  if (decoded.is_batch)
    return answer(slot, rpc::make_error({}, StandardCode::kInvalidRequest), 400);
  if (auto* invalid = std::get_if<rpc::InvalidRequest>(&frame)) {
    message.notes->verdict = invalid->fault.code;
    message.notes->fault = invalid->fault.message;
    return answer(slot, rpc::to_response(*invalid), 400);
  }
  auto& known = std::get<rpc::Message>(frame);
  if (auto* request = std::get_if<rpc::Request>(&known)) {
    if (!era.fault)
      return on_request(std::move(*request), std::move(message), std::move(slot), era.is_modern);
    rpc::ErrorObject why{era.fault->code, era.fault->message, era.fault->data};
    return answer(slot, rpc::make_error(request->id, std::move(why)), era.fault->http_status);
  }
  if (auto* notification = std::get_if<rpc::Notification>(&known)) {
    message.notes->message_type = notification->method.substr(0, 64);
    on_notification(*notification, owner_of(message));
  } else {
    questions_.answer(owner_of(message), std::move(std::get<rpc::Response>(known)));
  }
  transport::link::OutboundReply accepted;
  accepted.http_status = 202;
  slot->send(std::move(accepted));
}

bool Gateway::is_unknown_revision(const rpc::MessageContext& context) {
  std::string revision = header_of(context, "MCP-Protocol-Version");
  return !revision.empty() && !mcp::is_legacy_revision(revision);
}

void Gateway::on_request(rpc::Request request, transport::link::Inbound message, Slot slot,
                         bool is_modern) {
  message.notes->message_type = request.method.substr(0, 64);
  if (!is_modern && is_unknown_revision(message.context)) {
    return answer(
        slot,
        invalid_request(request.id,
                        "Invalid Request: MCP-Protocol-Version names an unsupported revision"),
        400);
  }
  if (is_modern && request.method == "server/discover") return discover(request, std::move(slot));
  if (is_modern && !is_modern_method(request.method))
    return answer(slot, rpc::make_error(request.id, StandardCode::kMethodNotFound), 404);
  std::string session = header_of(message.context, "Mcp-Session-Id");
  if (!is_modern && options_.has_sessions && !session.empty() && !sessions_.is_known(session)) {
    return answer(slot, invalid_request(request.id, "Session not found: initialize again"), 404);
  }
  if (request.method == "initialize") return initialize(request, message, slot);
  if (request.method == "ping") return answer(slot, rpc::make_result(request.id, json::object()));
  bool is_tools = request.method == "tools/list" || request.method == "tools/call";
  if (!is_tools && !backend_.takes(request.method)) {
    return answer(slot, rpc::make_error(request.id, StandardCode::kMethodNotFound),
                  is_modern ? 404 : 200);
  }
  if (!is_allowed(request)) {
    message.notes->verdict = ErrorCode::kNotAuthorized;
    message.notes->fault = "the tool is not among those that this gateway allows";
    return answer(
        slot,
        rpc::make_error(
            request.id,
            {static_cast<int>(StandardCode::kInvalidParams),
             "Unknown tool: " + schema::text_at(request.params, "name").substr(0, 64), nullptr}));
  }
  if (request.method == kListenMethod) {
    if (auto refusal = refuse_to_listen(request, message)) return answer(slot, *refusal, 406);
  }
  forward(std::move(request), std::move(message), std::move(slot), is_modern);
}

GatewayCall Gateway::described_call(const rpc::Request& request) const {
  GatewayCall call;
  call.request = request;
  call.deadline = clock_.steady_now() + options_.call_timeout;
  return call;
}

void Gateway::discover(const rpc::Request& request, Slot slot) {
  GatewayCall call = described_call(request);
  call.is_modern = true;
  backend_.describe(call, [slot = std::move(slot)](GatewayAnswer described) {
    json& result = described.response.result;
    json server_info = schema::field_at(result, "serverInfo");
    if (server_info.is_null()) server_info = own_server_info();
    if (!described.response.error) result = discovered(std::move(result));
    complete_modern("server/discover", server_info, described);
    answer(slot, std::move(described));
  });
}

void Gateway::initialize(const rpc::Request& request, const transport::link::Inbound& message,
                         const Slot& slot) {
  if (is_http(message.context) && sessions_.is_known(owner_of(message))) {
    return answer(
        slot, invalid_request(request.id, "Invalid Request: this session is initialized already"),
        400);
  }
  std::string wanted = schema::text_at(request.params, "protocolVersion");
  std::string revision(mcp::is_legacy_revision(wanted) ? wanted : mcp::kNewestLegacyRevision);
  std::string session;
  if (options_.has_sessions && is_http(message.context)) {
    auto opened = sessions_.open(random_);
    session = opened.id;
    if (!opened.forgotten.empty()) end_client(opened.forgotten);
  }
  GatewayCall call = described_call(request);
  if (options_.has_sessions) call.owner = session.empty() ? owner_of(message) : session;
  if (!call.owner.empty()) {
    if (auto begun = begin(request, call.owner); !begun) {
      sessions_.end(session);
      return answer(slot, gateway_failure(request.id, begun.error().message));
    }
  }
  backend_.describe(call, [this, slot, revision, session](GatewayAnswer described) {
    rpc::Response& response = described.response;
    if (response.error) {
      if (!session.empty()) end_client(session);
      return answer(slot, std::move(described));
    }
    response.result["protocolVersion"] = revision;
    transport::link::OutboundReply reply;
    reply.bytes = rpc::encode(rpc::Message(std::move(response)));
    if (!session.empty()) reply.headers.emplace_back("Mcp-Session-Id", session);
    slot->send(std::move(reply));
  });
}

void Gateway::forward(rpc::Request request, transport::link::Inbound message, Slot slot,
                      bool is_modern) {
  auto pending = std::make_shared<Pending>();
  pending->slot = std::move(slot);
  pending->id = request.id;
  pending->method = request.method;
  pending->is_modern = is_modern;
  if (options_.has_sessions || !is_http(message.context)) pending->owner = owner_of(message);
  if (message.channel) pending->channel = message.channel->id();
  pending->peer = message.channel;
  GatewayCall call;
  if (!is_modern) call.owner = pending->owner;
  if (!call.owner.empty()) {
    call.on_request = [this, owner = call.owner, peer = pending->peer](
                          rpc::Request question, mcp::client::AnswerServer reply) {
      auto ways = ways_to(owner, /*prefers_calls=*/true);
      if (peer) ways.insert(ways.begin(), peer);
      ask_client(owner, std::move(ways), std::move(question), std::move(reply));
    };
  }
  call.deadline = clock_.steady_now() + options_.call_timeout;
  call.correlation_id = conversation_in(request);
  call.is_modern = is_modern;
  call.request = std::move(request);
  call.context = std::move(message.context);
  call.channel = std::move(message.channel);
  {
    std::lock_guard lock(mutex_);
    std::string number = "gateway-" + std::to_string(next_correlation_++);
    if (call.correlation_id.empty()) call.correlation_id = number;
    if (pending->channel.empty()) pending->channel = number;
    pending_.emplace(pending->channel, pending);
    if (pending->method == kListenMethod) ++listeners_;
  }
  message.notes->conversation_id = call.correlation_id;
  // In revision 2026-07-28 closing the stream cancels the request.
  if (message.watch && (is_modern || backend_.ends_with_client()))
    message.watch->when_gone([this, pending] { give_up(pending, "the client is gone"); });
  auto cancel = backend_.forward(
      std::move(call), [this, pending](GatewayAnswer given) { finish(pending, std::move(given)); });
  {
    std::lock_guard lock(mutex_);
    if (!pending->has_ended) {
      pending->cancel = std::move(cancel);
      return;
    }
  }
  // The request was answered within the call, or abandoned before it could be cancelled.
  if (cancel) cancel();
}

bool Gateway::take(const std::shared_ptr<Pending>& pending) {
  std::lock_guard lock(mutex_);
  if (std::exchange(pending->has_ended, true)) return false;
  auto [begin, end] = pending_.equal_range(pending->channel);
  auto found = std::find_if(begin, end, [&](const auto& one) { return one.second == pending; });
  if (found != end) pending_.erase(found);
  if (pending->method == kListenMethod) --listeners_;
  return true;
}

void Gateway::finish(const std::shared_ptr<Pending>& pending, GatewayAnswer given) {
  if (!take(pending)) return;
  if (pending->method == "tools/list") filter_tools(given.response);
  if (pending->is_modern) complete_modern(pending->method, own_server_info(), given);
  answer(pending->slot, std::move(given));
}

bool Gateway::is_allowed(const rpc::Request& request) const {
  if (!options_.allowed_tools || request.method != "tools/call") return true;
  return options_.allowed_tools->contains(schema::text_at(request.params, "name"));
}

void Gateway::filter_tools(rpc::Response& response) const {
  if (!options_.allowed_tools || response.error || !response.result.is_object()) return;
  auto tools = response.result.find("tools");
  if (tools == response.result.end() || !tools->is_array()) return;
  json kept = json::array();
  for (auto& tool : *tools) {
    if (options_.allowed_tools->contains(schema::text_at(tool, "name")))
      kept.push_back(std::move(tool));
  }
  *tools = std::move(kept);
}

void Gateway::on_notification(const rpc::Notification& notification, const std::string& owner) {
  if (owner.empty()) return;
  if (notification.method == "notifications/roots/list_changed" ||
      notification.method == "notifications/progress")
    return backend_.notify(owner, notification);
  if (notification.method != "notifications/cancelled" || !notification.params.is_object()) return;
  auto named = notification.params.find("requestId");
  auto id = named == notification.params.end() ? std::nullopt : rpc::Id::from_json(*named);
  if (!id) return;
  std::shared_ptr<Pending> cancelled;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [channel, pending] : pending_) {
      if (pending->id == *id && pending->owner == owner) cancelled = pending;
    }
  }
  if (cancelled) give_up(cancelled, "the client has cancelled the request");
}

void Gateway::give_up(const std::shared_ptr<Pending>& pending, const std::string& why) {
  if (!take(pending)) return;
  if (pending->cancel) pending->cancel();
  answer(pending->slot, gateway_failure(pending->id, why));
}

transport::link::StreamAnswer Gateway::on_stream(transport::link::StreamRequest request) {
  if (mcp::read_signs(request.context).is_modern())
    return transport::link::StreamRefusal{405, "revision 2026-07-28 has no such streams"};
  if (!options_.has_sessions) return transport::link::StreamRefusal{};
  std::string session = header_of(request.context, "Mcp-Session-Id");
  if (session.empty())
    return transport::link::StreamRefusal{405, "a stream needs a session: initialize first"};
  if (!sessions_.is_known(session))
    return transport::link::StreamRefusal{404, "there is no such session"};
  if (sessions_.has_channel(session))
    return transport::link::StreamRefusal{409, "the session already has a stream"};
  transport::link::StreamAcceptance accepted;
  accepted.opened = [this, session](const std::shared_ptr<transport::link::PeerChannel>& channel) {
    if (!sessions_.attach(session, channel)) channel->close();
  };
  return accepted;
}

std::optional<transport::link::StreamRefusal> Gateway::on_session_end(
    const rpc::MessageContext& context) {
  if (!options_.has_sessions || mcp::read_signs(context).is_modern())
    return transport::link::StreamRefusal{405, "this server has no sessions"};
  const std::string session = header_of(context, "Mcp-Session-Id");
  if (sessions_.is_known(session)) {
    end_client(session);
    return std::nullopt;
  }
  return transport::link::StreamRefusal{404, "there is no such session"};
}

void Gateway::on_channel_closed(const transport::link::PeerChannel& channel) {
  sessions_.forget_channel(channel.id());
  questions_.forget(channel.id());
  backend_.end(channel.id());  // if the channel was a connection of its own
  std::vector<std::shared_ptr<Pending>> gone;
  {
    std::lock_guard lock(mutex_);
    auto [begin, end] = pending_.equal_range(channel.id());
    for (auto it = begin; it != end; ++it) {
      if (it->second->is_modern || backend_.ends_with_client()) gone.push_back(it->second);
    }
  }
  for (const auto& pending : gone) give_up(pending, "the client is gone");
}

std::size_t Gateway::in_work() const {
  std::lock_guard lock(mutex_);
  return pending_.size();
}

}  // namespace league::tools::gateway
