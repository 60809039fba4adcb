#include "common/transport/client/connection_parts.h"

#include <utility>

namespace league::transport::client {

rpc::MessageContext context_of_answer(const ResponseHead& head, std::string_view method,
                                      const std::string& target,
                                      std::shared_ptr<const rpc::ConnectionInfo> connection) {
  auto transport = rpc::TransportContext::http(head.headers, method, rpc::SharedText(target))
                       .with_connection(std::move(connection));
  transport.as_http()->status = head.status;
  auto context = rpc::MessageContext::now(
      core::SystemClock(), rpc::MessageDirection::kServerToClient, std::move(transport));
  if (auto session = rpc::find_header(*head.headers, "mcp-session-id")) {
    context.session = rpc::SessionId(std::string(*session));
  }
  return context;
}

rpc::MessageContext context_of_event(const link::SseEvent& event, const std::string& last_event_id,
                                     const std::string& stream_id,
                                     const rpc::MessageContext& of_answer) {
  rpc::SseMetadata metadata;
  metadata.event_id = event.id;
  metadata.event_type = event.type;
  metadata.retry_after = event.retry;
  if (!last_event_id.empty()) metadata.last_event_id = last_event_id;
  metadata.stream_id = stream_id;
  auto context = of_answer;
  context.timing = rpc::TimingContext::now(core::SystemClock());
  context.transport = rpc::TransportContext::sse(std::move(metadata))
                          .with_connection(of_answer.transport.connection);
  return context;
}

core::Error refusal(std::string_view method, const link::Endpoint& endpoint, int status,
                    std::string_view body) {
  std::string text = std::string(method) + " of " + endpoint.url() + " was refused with status " +
                     std::to_string(status);
  if (auto excerpt = link::excerpt_of(body); !excerpt.empty()) text += ": " + excerpt;
  return {core::ErrorCode::kConnectionError, std::move(text), {}};
}

core::Error wrong_type(std::string_view method, const link::Endpoint& endpoint,
                       std::string_view type, std::string_view expected, std::string_view body) {
  std::string text =
      std::string(method) + " of " + endpoint.url() + " was answered with " +
      (type.empty() ? "no content type" : "the content type " + link::excerpt_of(type)) +
      " instead of " + std::string(expected);
  if (auto excerpt = link::excerpt_of(body); !excerpt.empty()) text += ": " + excerpt;
  return {core::ErrorCode::kInvalidReply, std::move(text), {}};
}

void tell(const link::OutboundMessage& message, std::optional<core::Error> error, int http_status,
          rpc::MessageContext context, bool was_sent) {
  if (message.done) message.done({std::move(error), http_status, std::move(context), was_sent});
}

}  // namespace league::transport::client
