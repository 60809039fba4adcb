#include <chrono>
#include <nlohmann/json.hpp>

#include "common/rpc/context.h"
#include "common/rpc/shown_subject.h"

namespace league::rpc {
namespace {

constexpr std::size_t kShownOfSessionId = 8;

nlohmann::json session_json(const SessionContext& session) {
  nlohmann::json out = {{"protocol_version", session.protocol_version.view()},
                        {"state", to_string(session.state)}};
  if (session.session_id) {
    out["session_id"] = session.session_id->view().substr(0, kShownOfSessionId);
  }
  if (session.correlation_id) out["correlation_id"] = session.correlation_id->view();
  return out;
}

void put_metadata(nlohmann::json& out, const TransportMetadata& metadata) {
  if (const auto* stdio = std::get_if<StdioMetadata>(&metadata)) {
    out["process_id"] = stdio->process_id;
  } else if (const auto* http = std::get_if<HttpMetadata>(&metadata)) {
    out["method"] = http->method.view();
    out["uri"] = http->uri.view();
    if (http->status) out["status"] = *http->status;
  } else if (const auto* shared = std::get_if<std::shared_ptr<const SseMetadata>>(&metadata)) {
    const SseMetadata& sse = **shared;
    out["stream_id"] = sse.stream_id;
    if (sse.event_id) out["event_id"] = *sse.event_id;
    if (sse.event_type) out["event_type"] = *sse.event_type;
    if (sse.retry_after) out["retry_ms"] = sse.retry_after->count();
    if (sse.last_event_id) out["last_event_id"] = *sse.last_event_id;
  } else if (const auto* web_socket = std::get_if<WebSocketMetadata>(&metadata)) {
    out["frame_type"] = to_string(web_socket->frame_type);
    out["final"] = web_socket->is_final;
    out["compressed"] = web_socket->is_compressed;
  } else if (const auto* nats = std::get_if<std::shared_ptr<const NatsMetadata>>(&metadata)) {
    out["subject"] = shown_subject((*nats)->subject);
    if (!(*nats)->reply.empty()) out["reply"] = shown_subject((*nats)->reply);
    if (!(*nats)->trace_id.empty()) out["trace_id"] = (*nats)->trace_id;
  }
}

nlohmann::json transport_json(const TransportContext& transport) {
  nlohmann::json out = {{"type", to_string(transport.type)}};
  put_metadata(out, transport.metadata);
  if (transport.connection) {
    out["remote_address"] = transport.connection->remote_address;
    out["local_address"] = transport.connection->local_address;
    out["connection_id"] = transport.connection->connection_id;
    if (transport.connection->tls) out["tls"] = transport.connection->tls->version;
  }
  return out;
}

void put_microseconds(nlohmann::json& out, const char* name,
                      std::optional<TimingContext::Duration> duration) {
  if (!duration) return;
  out[name] = std::chrono::duration_cast<std::chrono::microseconds>(*duration).count();
}

}  // namespace

void to_json(nlohmann::json& out, const MessageContext& context) {
  nlohmann::json timing = {{"system_time", context.timing.system_time.to_log()}};
  put_microseconds(timing, "waiting_us", context.timing.waiting_duration());
  put_microseconds(timing, "processing_us", context.timing.processing_duration());
  put_microseconds(timing, "total_us", context.timing.total_duration());
  out = {{"direction", to_string(context.direction)},
         {"session", session_json(context.session)},
         {"transport", transport_json(context.transport)},
         {"timing", std::move(timing)}};
}

}  // namespace league::rpc
