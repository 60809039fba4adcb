#include <algorithm>
#include <nlohmann/json.hpp>

#include "common/rpc/codec.h"
#include "tools/gateway/gateway.h"
#include "tools/gateway/gateway_modern.h"

namespace league::tools::gateway {
namespace {

using core::ErrorCode;
using nlohmann::json;

bool takes_events(const rpc::MessageContext& context) {
  const auto* http = context.transport.as_http();
  if (http == nullptr || !http->headers) return true;
  auto [begin, end] = http->headers->equal_range("accept");
  return std::any_of(begin, end, [](const auto& field) {
    return field.second.find("text/event-stream") != std::string::npos;
  });
}

}  // namespace

core::Result<void> Gateway::begin(const rpc::Request& initialize, const std::string& owner) {
  GatewayClient client;
  client.owner = owner;
  if (initialize.params.is_object())
    client.capabilities = initialize.params.value("capabilities", json::object());
  client.on_notification = [this, owner](const rpc::Notification& note) {
    tell_client(owner, note);
  };
  client.on_request = [this, owner](rpc::Request question, mcp::client::AnswerServer reply) {
    ask_client(owner, ways_to(owner, /*prefers_calls=*/true), std::move(question),
               std::move(reply));
  };
  client.on_forgotten = [this, owner] {
    auto connection = sessions_.channel_of(owner);
    sessions_.end(owner);
    if (connection) connection->close();
    questions_.forget(owner);
  };
  return backend_.begin(std::move(client));
}

void Gateway::end_client(const std::string& owner) {
  sessions_.end(owner);
  questions_.forget(owner);
  backend_.end(owner);
}

Gateway::Channels Gateway::ways_to(const std::string& owner, bool prefers_calls) const {
  Channels ways;
  if (auto listening = sessions_.channel_of(owner)) ways.push_back(std::move(listening));
  Channels calls;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [channel, pending] : pending_) {
      if (pending->owner == owner && pending->peer) calls.push_back(pending->peer);
    }
  }
  ways.insert(prefers_calls ? ways.begin() : ways.end(), calls.begin(), calls.end());
  return ways;
}

void Gateway::tell_client(const std::string& owner, const rpc::Notification& note) {
  const bool is_of_a_call = note.method == "notifications/message";
  auto bytes = std::make_shared<const std::string>(rpc::encode(rpc::Message(note)));
  auto ways = ways_to(owner, is_of_a_call);
  (void)std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return way->push(bytes); });
}

void Gateway::ask_client(const std::string& owner, Channels ways, rpc::Request request,
                         mcp::client::AnswerServer answer) {
  if (ways.empty()) {
    return answer(
        gateway_failure(request.id, "the client has no stream that could carry the request"));
  }
  auto way = ways.front();
  ways.erase(ways.begin());
  const json params = request.params.is_null() ? json::object() : request.params;
  auto answered = [this, owner, ways = std::move(ways), request,
                   answer = std::move(answer)](core::Result<rpc::Response> response) mutable {
    if (response) return answer(std::move(*response));
    // A client that does not accept events in the answer to its call may have another stream.
    if (response.error().code == ErrorCode::kConnectionError && !ways.empty())
      return ask_client(owner, std::move(ways), std::move(request), std::move(answer));
    answer(gateway_failure(request.id, response.error().message));
  };
  questions_.ask(*way, {owner, request.method, params, options_.call_timeout}, std::move(answered));
}

std::optional<rpc::Response> Gateway::refuse_to_listen(const rpc::Request& request,
                                                       const transport::link::Inbound& message) {
  if (!message.channel || !takes_events(message.context))
    return gateway_failure(request.id,
                           "notifications are sent as an event stream: accept text/event-stream");
  std::lock_guard lock(mutex_);
  if (listeners_ < options_.most_listeners) return std::nullopt;
  return gateway_failure(request.id, "all " + std::to_string(options_.most_listeners) +
                                         " subscriptions that clients may have are in use");
}

}  // namespace league::tools::gateway
