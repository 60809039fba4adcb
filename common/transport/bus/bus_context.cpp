#include "common/transport/bus/bus_context.h"

#include <utility>

namespace league::transport {

std::shared_ptr<const rpc::ConnectionInfo> bus_connection_info(const Bus& bus,
                                                               const BusSession& session) {
  constexpr std::size_t kShown = 8;  // a session's name is worth as much as a credential
  rpc::ConnectionInfo info;
  info.remote_address = bus.url();
  info.connection_id = "nats-" + session.str().substr(0, kShown);
  return std::make_shared<const rpc::ConnectionInfo>(std::move(info));
}

rpc::MessageContext bus_context(const BusMessage& message, const BusSession& session,
                                rpc::MessageDirection direction,
                                std::shared_ptr<const rpc::ConnectionInfo> connection,
                                const core::Clock& clock) {
  auto context = rpc::MessageContext::minimal(clock).with_direction(direction).with_transport(
      rpc::TransportContext::nats(
          {message.subject, message.reply, std::string(bus_header(message, kTraceHeader))})
          .with_connection(std::move(connection)));
  context.session.session_id = rpc::SessionId(session.str());
  context.session.state = rpc::SessionState::kActive;
  return context;
}

BusMessage bus_message(std::string subject, std::string payload, const BusSession& session,
                       rpc::MessageDirection direction, const std::string& trace_id) {
  BusMessage message;
  message.subject = std::move(subject);
  message.payload = std::move(payload);
  message.headers = {{kSessionHeader, session.str()},
                     {kDirectionHeader, std::string(rpc::to_string(direction))}};
  if (!trace_id.empty()) message.headers.emplace_back(kTraceHeader, trace_id);
  return message;
}

}  // namespace league::transport
