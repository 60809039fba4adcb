#include "tools/league/gateway.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/mcp/revision.h"
#include "common/rpc/codec.h"
#include "common/schema/json_gate.h"

namespace league::tools {
namespace {

using core::ErrorCode;
using nlohmann::json;
using rpc::StandardCode;

constexpr schema::JsonLimits kClientLimits{.max_depth = 64, .max_key_length = 1024};
constexpr int kUnsupportedVersion = -32022;

bool is_http(const rpc::MessageContext& context) { return context.transport.as_http() != nullptr; }

std::string header_of(const rpc::MessageContext& context, std::string_view name) {
  const auto* http = context.transport.as_http();
  auto value =
      http != nullptr && http->headers ? rpc::find_header(*http->headers, name) : std::nullopt;
  return std::string(value.value_or(std::string_view()));
}

/// Whose requests these are: a session, or a connection of its own. HTTP without a session says
/// nothing of who asks.
std::string owner_of(const transport::Inbound& message) {
  if (message.channel && !is_http(message.context)) return message.channel->id();
  return header_of(message.context, "Mcp-Session-Id");
}

/// The revision that a request claims without a handshake; empty where it claims none.
std::string claimed_revision(const rpc::Request& request, const rpc::MessageContext& context) {
  if (request.params.is_object()) {
    auto meta = request.params.find("_meta");
    if (meta != request.params.end() && meta->is_object()) {
      auto version = meta->find(std::string(mcp::kVersionKey));
      if (version != meta->end() && version->is_string()) return version->get<std::string>();
    }
  }
  return header_of(context, "MCP-Protocol-Version");
}

std::string text_at(const json& object, const char* key) {
  if (!object.is_object()) return {};
  auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

/// A league message brings a conversation of its own.
std::string conversation_in(const rpc::Request& request) {
  if (!request.params.is_object() || !request.params.contains("arguments")) return {};
  return text_at(request.params["arguments"], "conversation_id").substr(0, 64);
}

}  // namespace

rpc::Response gateway_failure(const rpc::Id& id, const std::string& what, json data) {
  return rpc::make_error(id, {static_cast<int>(StandardCode::kInternalError),
                              "gateway: " + what.substr(0, 500), std::move(data)});
}

/// A request that the backend works on.
struct Gateway::Pending {
  Slot slot;
  rpc::Id id;
  std::string method;
  std::string owner;  ///< who may cancel it by its id; empty: nobody, ids of strangers are alike
  std::string channel;
  GatewayBackend::Cancel cancel;
  bool has_ended = false;
};

Gateway::Gateway(GatewayOptions options, GatewayBackend& backend, const core::Clock& clock,
                 core::RandomSource& random)
    : options_(std::move(options)), backend_(backend), clock_(clock), random_(random) {}

void Gateway::answer(const Slot& slot, const rpc::Response& response, int http_status) const {
  transport::OutboundReply reply;
  reply.bytes = rpc::encode(rpc::Message(response));
  reply.http_status = http_status;
  slot->send(std::move(reply));
}

void Gateway::on_message(transport::Inbound message, transport::ReplySlot reply) {
  auto slot = std::make_shared<transport::ReplySlot>(std::move(reply));
  if (message.channel && !is_http(message.context) && options_.has_sessions)
    sessions_.note_connection(message.channel);
  auto document = schema::parse_json(message.bytes, kClientLimits);
  if (!document) {
    message.notes->verdict = document.error().code;
    message.notes->fault = document.error().message;
    return answer(slot, rpc::make_error({}, StandardCode::kParseError), 400);
  }
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
  if (auto* request = std::get_if<rpc::Request>(&known))
    return on_request(std::move(*request), std::move(message), std::move(slot));
  if (auto* notification = std::get_if<rpc::Notification>(&known)) {
    message.notes->message_type = notification->method.substr(0, 64);
    on_notification(*notification, owner_of(message));
  }
  transport::OutboundReply accepted;
  accepted.http_status = 202;
  slot->send(std::move(accepted));
}

std::optional<rpc::Response> Gateway::refusal_of(const rpc::Request& request,
                                                 const rpc::MessageContext& context) const {
  std::string revision = claimed_revision(request, context);
  if (revision.empty() || mcp::is_legacy_revision(revision)) return std::nullopt;
  json supported = json::array();
  for (auto it = mcp::kLegacyRevisions.rbegin(); it != mcp::kLegacyRevisions.rend(); ++it)
    supported.push_back(*it);
  return rpc::make_error(
      request.id, {kUnsupportedVersion,
                   "Unsupported protocol version",
                   {{"supported", std::move(supported)}, {"requested", revision.substr(0, 40)}}});
}

void Gateway::on_request(rpc::Request request, transport::Inbound message, Slot slot) {
  message.notes->message_type = request.method.substr(0, 64);
  if (auto refusal = refusal_of(request, message.context)) return answer(slot, *refusal, 400);
  std::string session = header_of(message.context, "Mcp-Session-Id");
  if (options_.has_sessions && !session.empty() && !sessions_.is_known(session)) {
    return answer(slot,
                  rpc::make_error(request.id, {static_cast<int>(StandardCode::kInvalidRequest),
                                               "Session not found: initialize again", nullptr}),
                  404);
  }
  if (request.method == "initialize") return initialize(request, message, std::move(slot));
  if (request.method == "ping") return answer(slot, rpc::make_result(request.id, json::object()));
  bool is_tools = request.method == "tools/list" || request.method == "tools/call";
  if (!is_tools && !backend_.takes(request.method))
    return answer(slot, rpc::make_error(request.id, StandardCode::kMethodNotFound));
  if (!is_allowed(request)) {
    message.notes->verdict = ErrorCode::kNotAuthorized;
    message.notes->fault = "the tool is not among those that this gateway allows";
    return answer(slot,
                  rpc::make_error(
                      request.id,
                      {static_cast<int>(StandardCode::kInvalidParams),
                       "Unknown tool: " + text_at(request.params, "name").substr(0, 64), nullptr}));
  }
  forward(std::move(request), std::move(message), std::move(slot));
}

void Gateway::initialize(const rpc::Request& request, const transport::Inbound& message,
                         Slot slot) {
  std::string wanted = text_at(request.params, "protocolVersion");
  std::string revision(mcp::is_legacy_revision(wanted) ? wanted : mcp::kNewestLegacyRevision);
  std::string session;
  if (options_.has_sessions && is_http(message.context)) session = sessions_.open(random_);
  backend_.describe(request, clock_.steady_now() + options_.call_timeout,
                    [this, slot, revision, session](rpc::Response response) {
                      if (response.error) {
                        sessions_.end(session);
                        return answer(slot, response);
                      }
                      response.result["protocolVersion"] = revision;
                      transport::OutboundReply reply;
                      reply.bytes = rpc::encode(rpc::Message(std::move(response)));
                      if (!session.empty()) reply.headers.emplace_back("Mcp-Session-Id", session);
                      slot->send(std::move(reply));
                    });
}

void Gateway::forward(rpc::Request request, transport::Inbound message, Slot slot) {
  auto pending = std::make_shared<Pending>();
  pending->slot = std::move(slot);
  pending->id = request.id;
  pending->method = request.method;
  if (options_.has_sessions || !is_http(message.context)) pending->owner = owner_of(message);
  if (message.channel) pending->channel = message.channel->id();
  GatewayCall call;
  call.deadline = clock_.steady_now() + options_.call_timeout;
  call.correlation_id = conversation_in(request);
  call.request = std::move(request);
  call.context = std::move(message.context);
  call.channel = std::move(message.channel);
  {
    std::lock_guard lock(mutex_);
    std::string number = "gateway-" + std::to_string(next_correlation_++);
    if (call.correlation_id.empty()) call.correlation_id = number;
    if (pending->channel.empty()) pending->channel = number;
    pending_.emplace(pending->channel, pending);
  }
  message.notes->conversation_id = call.correlation_id;
  if (message.watch && backend_.ends_with_client())
    message.watch->when_gone([this, pending] { give_up(pending, "the client is gone"); });
  auto cancel = backend_.forward(std::move(call), [this, pending](rpc::Response response) {
    finish(pending, std::move(response));
  });
  {
    std::lock_guard lock(mutex_);
    if (!pending->has_ended) {
      pending->cancel = std::move(cancel);
      return;
    }
  }
  // Answered within the call, or given up before there was anything to cancel.
  if (cancel) cancel();
}

bool Gateway::take(const std::shared_ptr<Pending>& pending) {
  std::lock_guard lock(mutex_);
  if (std::exchange(pending->has_ended, true)) return false;
  auto [begin, end] = pending_.equal_range(pending->channel);
  auto found = std::find_if(begin, end, [&](const auto& one) { return one.second == pending; });
  if (found != end) pending_.erase(found);
  return true;
}

void Gateway::finish(const std::shared_ptr<Pending>& pending, rpc::Response response) {
  if (!take(pending)) return;
  if (pending->method == "tools/list") filter_tools(response);
  answer(pending->slot, response);
}

bool Gateway::is_allowed(const rpc::Request& request) const {
  if (!options_.allowed_tools || request.method != "tools/call") return true;
  return options_.allowed_tools->contains(text_at(request.params, "name"));
}

void Gateway::filter_tools(rpc::Response& response) const {
  if (!options_.allowed_tools || response.error || !response.result.is_object()) return;
  auto tools = response.result.find("tools");
  if (tools == response.result.end() || !tools->is_array()) return;
  json kept = json::array();
  for (auto& tool : *tools) {
    if (options_.allowed_tools->contains(text_at(tool, "name"))) kept.push_back(std::move(tool));
  }
  *tools = std::move(kept);
}

void Gateway::on_notification(const rpc::Notification& notification, const std::string& owner) {
  if (owner.empty()) return;
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

transport::StreamAnswer Gateway::on_stream(transport::StreamRequest request) {
  if (!options_.has_sessions) return transport::StreamRefusal{};
  std::string session = header_of(request.context, "Mcp-Session-Id");
  if (session.empty())
    return transport::StreamRefusal{405, "a stream needs a session: initialize first"};
  if (!sessions_.is_known(session))
    return transport::StreamRefusal{404, "there is no such session"};
  if (sessions_.has_channel(session))
    return transport::StreamRefusal{409, "the session has a stream already"};
  transport::StreamAcceptance accepted;
  accepted.opened = [this, session](const std::shared_ptr<transport::PeerChannel>& channel) {
    if (!sessions_.attach(session, channel)) channel->close();
  };
  return accepted;
}

std::optional<transport::StreamRefusal> Gateway::on_session_end(
    const rpc::MessageContext& context) {
  if (!options_.has_sessions) return transport::StreamRefusal{405, "there are no sessions here"};
  if (sessions_.end(header_of(context, "Mcp-Session-Id"))) return std::nullopt;
  return transport::StreamRefusal{404, "there is no such session"};
}

void Gateway::on_channel_closed(const transport::PeerChannel& channel) {
  sessions_.forget_channel(channel.id());
  if (!backend_.ends_with_client()) return;
  std::vector<std::shared_ptr<Pending>> gone;
  {
    std::lock_guard lock(mutex_);
    auto [begin, end] = pending_.equal_range(channel.id());
    for (auto it = begin; it != end; ++it) gone.push_back(it->second);
  }
  for (const auto& pending : gone) give_up(pending, "the client is gone");
}

void Gateway::broadcast(const rpc::Notification& notification) {
  auto bytes = std::make_shared<const std::string>(rpc::encode(rpc::Message(notification)));
  for (const auto& channel : sessions_.channels()) channel->push(bytes);
}

std::size_t Gateway::in_work() const {
  std::lock_guard lock(mutex_);
  return pending_.size();
}

}  // namespace league::tools
