#include "common/transport/http_call.h"

#include <utility>

namespace league::transport {

namespace {

CallOutcome outcome_of(const OutboundCall& call, HttpAnswer answer,
                       const PeerConnection& connection) {
  CallOutcome out;
  out.http_status = answer.status;
  out.bytes = std::move(answer.body);
  auto transport = rpc::TransportContext::http(std::move(answer.headers), "POST",
                                               rpc::SharedText(call.endpoint.path))
                       .with_connection(connection.info);
  if (auto* http = transport.as_http()) http->status = answer.status;
  out.context = rpc::MessageContext::minimal(core::SystemClock())
                    .with_direction(rpc::MessageDirection::kServerToClient)
                    .with_transport(std::move(transport));
  return out;
}

CallOutcome outcome_of(const OutboundCall& call, const DeadlineStream& stream) {
  const auto* fault = stream.fault();
  if (fault != nullptr) {
    return failed_call(call, fault->code, fault->was_sending ? "send" : "receive", fault->cause);
  }
  return failed_call(call, core::ErrorCode::kConnectionError, "receive",
                     stream.has_ended() ? "the peer closed the connection within its answer"
                                        : "the answer is no valid HTTP response");
}

/// True for a connection that its peer had closed before it saw the request: nothing of the request
/// was handled.
bool is_worth_repeating(const PeerConnection& connection, const DeadlineStream& stream) {
  const auto* fault = stream.fault();
  return connection.is_reused && !stream.has_response_begun() && fault != nullptr &&
         fault->code == core::ErrorCode::kConnectionError;
}

}  // namespace

std::string peer_key(const Endpoint& endpoint) {
  std::string key = endpoint.scheme + "://" + endpoint.authority();
  if (!endpoint.pinned_address.empty()) key += "@" + endpoint.pinned_address;
  return key;
}

CallOutcome failed_call(const OutboundCall& call, core::ErrorCode code, std::string_view phase,
                        std::string_view cause) {
  CallOutcome out;
  std::string text = "call of " + call.endpoint.url() + " failed at " + std::string(phase) + ": ";
  out.error = core::Error{code, text + std::string(cause), {}};
  out.context = rpc::MessageContext::minimal(core::SystemClock())
                    .with_direction(rpc::MessageDirection::kServerToClient);
  return out;
}

CallOutcome perform_http_call(const OutboundCall& call, const std::string& peer,
                              const HttpCallTools& tools) {
  Patience patience{call.deadline, tools.cancel_fd};
  auto connection = tools.cache->take(peer);
  for (;;) {
    if (!connection) {
      auto fresh = tools.connector->connect(call.endpoint, patience);
      if (!fresh) return failed_call(call, fresh.error().code, "connect", fresh.error().message);
      connection = *std::move(fresh);
    }
    DeadlineStream stream(*connection->channel, {patience, tools.max_response});
    HttpAnswer answer;
    if (connection->http->post(call.endpoint.path, *call.bytes, stream, answer)) {
      bool is_reusable = answer.keeps_connection && !stream.has_unread() && !stream.has_ended();
      CallOutcome out = outcome_of(call, std::move(answer), *connection);
      out.sent_at = stream.sent_at();
      if (is_reusable) tools.cache->put(peer, std::move(connection));
      return out;
    }
    if (!is_worth_repeating(*connection, stream)) {
      CallOutcome out = outcome_of(call, stream);
      out.sent_at = stream.sent_at();
      return out;
    }
    connection = nullptr;
  }
}

}  // namespace league::transport
