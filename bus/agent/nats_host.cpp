#include "bus/agent/nats_host.h"

#include "bus/agent/bus_echo.h"
#include "bus/agent/nats_port.h"
#include "bus/transport/bus_connection.h"
#include "common/agent/runtime/log.h"
#include "common/transport/caller/link_caller.h"

namespace league::agent::bus {
namespace {

class BusSessionCaller final : public transport::link::Caller {
 public:
  /// `first`: the bus for calls to sessions in `served_first`; null if there are none.
  BusSessionCaller(const HostBus::Calling& calling, const transport::link::BusSession& session,
                   transport::bus::Bus& bus, transport::bus::Bus* first,
                   const std::set<transport::link::BusSession>& served_first,
                   transport::link::Caller& others)
      : others_(others), served_first_(served_first), links_(calling, session, bus) {
    if (first != nullptr) first_links_ = std::make_unique<Links>(calling, session, *first);
  }

  void call(transport::link::OutboundCall call, Completion completion) override {
    transport::link::Caller& way = way_to(call.endpoint);
    way.call(std::move(call), std::move(completion));
  }

 private:
  /// The connector and the caller for sessions on one bus.
  struct Links {
    Links(const HostBus::Calling& calling, const transport::link::BusSession& session,
          transport::bus::Bus& bus)
        : connector(calling.loop, bus, session, calling.clock, calling.timer, calling.random),
          caller(connector, calling.clock, calling.timer, link_options(calling.settings)) {}
    transport::bus::BusConnector connector;
    transport::caller::LinkCaller caller;  // last: it uses the connector
  };

  transport::link::Caller& way_to(const transport::link::Endpoint& endpoint) {
    if (endpoint.scheme != "nats") return others_;
    if (!first_links_) return links_.caller;
    auto session = transport::link::BusSession::parse(endpoint.path);
    return session && served_first_.contains(*session) ? first_links_->caller : links_.caller;
  }
  static transport::caller::LinkCallerOptions link_options(const runtime::Settings& settings) {
    transport::caller::LinkCallerOptions options;
    options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
    options.max_connections = 100'000;  // a session costs no socket
    return options;
  }

  transport::link::Caller& others_;
  const std::set<transport::link::BusSession>& served_first_;
  Links links_;
  std::unique_ptr<Links> first_links_;
};

}  // namespace

core::Result<std::unique_ptr<HostBus>> HostBus::join(const BusOptions& options) {
  auto access = read_bus_access(options, runtime::log::program_name());
  if (!access) return access.error();
  auto joined = NatsHost::connect(*access);
  if (!joined) return joined.error();
  return std::unique_ptr<HostBus>(std::move(*joined));
}

core::Result<std::unique_ptr<NatsHost>> NatsHost::connect(const BusAccess& access) {
  std::unique_ptr<NatsHost> joined(new NatsHost);
  auto warn = [](const std::string& fault) { runtime::log::warn("bus: {}", fault); };
  auto bus = connect_bus(access, warn);
  if (!bus) return bus.error();
  joined->bus_ = std::move(*bus);
  auto streams = connect_streams(access, warn);
  if (!streams) return streams.error();
  joined->streams_bus_ = std::move(*streams);
  const std::string url = joined->bus_->url();
  if (!joined->bus_->is_connected())
    runtime::log::warn("the bus at {} cannot be reached yet; still trying", url);
  joined->watch_ = joined->bus_->watch([url](bool is_connected) {
    if (is_connected) return runtime::log::info("connected to the bus at {}", url);
    runtime::log::warn("the connection to the bus at {} is lost; reconnecting", url);
  });
  if (joined->streams_bus_ && !joined->streams_bus_->is_connected()) {
    runtime::log::warn("streams: the bus at {} cannot be reached yet; still trying",
                       joined->streams_bus_->url());
  }
  auto first = connect_first(access, warn);
  if (!first) return first.error();
  joined->first_bus_ = std::move(*first);
  joined->served_first_ = access.served_first;
  joined->has_streams_ = access.has_streams;
  joined->session_ = access.session;
  return joined;
}

core::Result<transport::link::BusSession> NatsHost::open_session(const std::filesystem::path& file,
                                                                 core::RandomSource& random) const {
  if (session_) return *session_;
  return open_bus_session(file, random);
}

std::unique_ptr<transport::link::Caller> NatsHost::caller_for(
    const transport::link::BusSession& session, const Calling& calling,
    transport::link::Caller& others) {
  return std::make_unique<BusSessionCaller>(calling, session, *bus_, first_bus(), served_first_,
                                            others);
}

std::unique_ptr<PortBus> NatsHost::open_port(PortContext context) {
  return std::make_unique<NatsPort>(*this, std::move(context));
}

std::unique_ptr<runtime::BrokerDelay> NatsHost::measure(core::Timer& timer,
                                                        const core::Clock& clock) {
  return std::make_unique<BusEcho>(*bus_, timer, clock);
}

std::string NatsHost::lost_url() const {
  return bus_->is_connected() ? std::string() : bus_->url();
}

}  // namespace league::agent::bus
