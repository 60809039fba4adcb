#include "bus/transport/bus_context.h"
#include "common/rpc/http_headers.h"

#include <atomic>
#include <utility>

namespace league::transport::bus {

std::shared_ptr<const rpc::ConnectionInfo> bus_connection_info(const Bus& bus,
                                                               const link::BusSession& session) {
  constexpr std::size_t kShown = 8;  // a session's name is worth as much as a credential
  static std::atomic<std::uint64_t> next = 1;
  rpc::ConnectionInfo info;
  info.remote_address = bus.url();
  info.connection_id = "nats-" + session.str().substr(0, kShown) + "-" + std::to_string(next++);
  return std::make_shared<const rpc::ConnectionInfo>(std::move(info));
}

rpc::MessageContext bus_context(const BusMessage& message, const link::BusSession& session,
                                rpc::MessageDirection direction,
                                std::shared_ptr<const rpc::ConnectionInfo> connection,
                                const core::Clock& clock) {
  auto context = rpc::MessageContext::now(
      clock, direction,
      rpc::TransportContext::nats({message.subject, message.reply, bus_trace(message)})
          .with_connection(std::move(connection)));
  context.session = rpc::SessionId(session.str());
  return context;
}

std::string bus_trace(const BusMessage& message) {
  constexpr std::size_t kMaxTrace = 256;
  return std::string(bus_header(message, kTraceHeader).substr(0, kMaxTrace));
}

BusMessage bus_message(std::string subject, std::string payload, const link::BusSession& session,
                       rpc::MessageDirection direction, const std::string& trace_id) {
  BusMessage message;
  message.subject = std::move(subject);
  message.payload = std::move(payload);
  message.headers = {{std::string(rpc::kSessionHeader), session.str()},
                     {kDirectionHeader, std::string(rpc::to_string(direction))}};
  if (!trace_id.empty()) message.headers.emplace_back(kTraceHeader, trace_id);
  return message;
}

}  // namespace league::transport::bus
