#include "bus/agent/nats_host.h"

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
        : connector(calling.loop, {bus, session, calling.clock, calling.timer, calling.random}),
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
  return measure_broker(*bus_, timer, clock);
}

std::string NatsHost::lost_url() const {
  return bus_->is_connected() ? std::string() : bus_->url();
}

core::Result<void> NatsPort::serve_session(transport::link::MessageHandler& handler,
                                           const std::string& manager_url) {
  auto started = BusAgent::start(on(host_.bus()), manager_url, handler);
  if (!started) return started.error();
  agent_ = std::move(*started);
  return {};
}

core::Result<void> NatsPort::hear_events(transport::link::MessageHandler& handler,
                                         const std::string& league_id,
                                         std::set<envelope::MessageType> types) {
  if (league_id.empty()) return {};
  std::lock_guard lock(events_mutex_);
  if (is_deaf_) return {};
  if (event_listener_ && event_listener_->league_id() == league_id) return {};
  event_listener_.reset();
  event_verifier_ = std::make_unique<EventVerifier>(handler, std::move(types));
  // The log is in front of the verifier, so that it also shows the events that are dropped.
  audited_events_ = std::make_unique<audit::calls::AuditedHandler>(*event_verifier_, context_.log,
                                                                   context_.clock);
  auto started =
      EventListener::start(on(host_.bus()), league_id, *event_verifier_, *audited_events_);
  if (!started) return started.error();
  event_listener_ = std::move(*started);  // shared, because another thread may be inside release()
  return {};
}

void NatsPort::trust_events(const identity::Identity& identity) {
  std::shared_ptr<EventListener> listener;
  {
    std::lock_guard lock(events_mutex_);
    if (!event_listener_) return;
    event_verifier_->trust(identity);
    if (identity.broadcast_key.empty()) {
      listener.swap(event_listener_);
      return;
    }
    listener = event_listener_;
  }
  listener->release();
}

core::Result<void> NatsPort::serve_sessions(transport::link::MessageHandler& handler,
                                            transport::bus::BusSessionsOptions options) {
  options.first_bus = host_.first_bus();
  options.served_first = host_.served_first();
  auto started = transport::bus::BusSessions::start(
      host_.bus(), handler, context_.clock, context_.timer, context_.random, std::move(options));
  if (!started) return started.error();
  sessions_ = std::move(*started);
  return {};
}

void NatsPort::expect_session(const std::string& contact_endpoint) {
  auto endpoint = transport::link::parse_endpoint(contact_endpoint);
  if (!sessions_ || !endpoint || endpoint->scheme != "nats") return;
  auto session = transport::link::BusSession::parse(endpoint->path);
  if (!session) return;
  if (auto attached = sessions_->attach(*session); !attached)
    runtime::log::warn("{}: {}", contact_endpoint, attached.error().message);
}

transport::bus::JetStream* NatsPort::streams() {
  if (!host_.has_streams()) return nullptr;
  if (streams_) return streams_.get();
  auto made = transport::bus::JetStream::create(on(host_.streams_bus()));
  if (!made) {
    runtime::log::warn("streams of the bus: {}", made.error().message);
    return nullptr;
  }
  streams_ = std::move(*made);
  return streams_.get();
}

void NatsPort::begin_stop() {
  if (agent_) agent_->begin_stop();
  if (sessions_) sessions_->begin_stop();
}

void NatsPort::stop(const std::function<bool()>& is_first) {
  constexpr std::chrono::milliseconds kGrace{1000};
  constexpr std::chrono::milliseconds kLastNews{300};
  constexpr std::chrono::milliseconds kQuiet{20};
  constexpr std::chrono::milliseconds kNoTime{0};
  std::shared_ptr<EventListener> events;
  {
    std::lock_guard lock(events_mutex_);
    is_deaf_ = true;
    events = std::move(event_listener_);
  }
  // The message that ends the league may still be on its way. All agents of the process share one
  // connection, so only the first one has to wait for it.
  if (events) events->catch_up(kLastNews, is_first() ? kQuiet : kNoTime);
  events.reset();
  if (agent_) agent_->stop(kGrace);
  if (sessions_) sessions_->stop(kGrace);
}

void NatsPort::close() {
  agent_.reset();
  sessions_.reset();
  // The object is kept, because others may still use it: their requests fail with kShuttingDown.
  if (streams_) streams_->end();
}

}  // namespace league::agent::bus
