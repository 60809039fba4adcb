#include "common/agent/host/agent_host.h"

#include <algorithm>
#include <thread>

#include "common/agent/peers/refusal_report.h"
#include "common/agent/runtime/child_log.h"
#include "common/agent/runtime/log.h"
#include "common/transport/bus/bus_connection.h"
#include "common/transport/caller/any_caller.h"
#include "common/transport/caller/link_caller.h"
#include "common/transport/caller/patient_caller.h"

namespace league::agent {
namespace {

std::size_t worker_count(const Settings& settings) {
  if (settings.http.workers > 0) return static_cast<std::size_t>(settings.http.workers);
  return std::max<std::size_t>(2, std::thread::hardware_concurrency());
}

transport::AnyCallerOptions caller_options(const Settings& settings,
                                           const std::filesystem::path& child_logs) {
  transport::AnyCallerOptions all;
  all.links.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  // Children seal their logs before they end.
  all.links.farewell = std::chrono::milliseconds(1800);
  all.lines.limits.max_line = settings.calls.max_reply_bytes;
  all.lines.subprocess.on_stderr = child_log(child_logs);
  transport::HttpCallerOptions& options = all.http;
  options.game_calls = static_cast<std::size_t>(settings.calls.game);
  options.broadcast_calls = static_cast<std::size_t>(settings.calls.broadcast);
  options.control_calls = static_cast<std::size_t>(settings.calls.control);
  options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  options.max_response = settings.calls.max_reply_bytes;
  return all;
}

/// The calls of one session: by the bus where the endpoint is on it, else by the process's caller.
class SessionCaller final : public transport::Caller {
 public:
  struct Context {
    transport::Hub& hub;
    const transport::BusSession& session;
    const core::Clock& clock;
    core::Timer& timer;
    core::RandomSource& random;
    const Settings& settings;
  };

  /// `first`: by which those of `served_first` are called; null: there are none.
  SessionCaller(const Context& context, transport::Bus& bus, transport::Bus* first,
                const std::set<transport::BusSession>& served_first, transport::Caller& others)
      : others_(others), served_first_(served_first), links_(context, bus) {
    if (first != nullptr) first_links_ = std::make_unique<Links>(context, *first);
  }

  void call(transport::OutboundCall call, Completion completion) override {
    transport::Caller& way = way_to(call.endpoint);
    way.call(std::move(call), std::move(completion));
  }

 private:
  /// All sessions by one bus.
  struct Links {
    Links(const Context& context, transport::Bus& bus)
        : connector(context.hub, bus, context.session, context.clock, context.timer,
                    context.random),
          caller(connector, context.clock, context.timer, link_options(context.settings)) {}
    transport::BusConnector connector;
    transport::LinkCaller caller;  // last: it uses the connector
  };

  transport::Caller& way_to(const transport::Endpoint& endpoint) {
    if (endpoint.scheme != "nats") return others_;
    if (!first_links_) return links_.caller;
    auto session = transport::BusSession::parse(endpoint.path);
    return session && served_first_.contains(*session) ? first_links_->caller : links_.caller;
  }
  static transport::LinkCallerOptions link_options(const Settings& settings) {
    transport::LinkCallerOptions options;
    options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
    options.max_connections = 100'000;  // a session costs no socket
    return options;
  }

  transport::Caller& others_;
  const std::set<transport::BusSession>& served_first_;
  Links links_;
  std::unique_ptr<Links> first_links_;
};

}  // namespace

AgentHost::AgentHost(const Settings& settings, envelope::MessageSchemas schemas)
    : settings_(settings),
      schemas_(std::move(schemas)),
      log_writer_(std::make_shared<audit::LogWriter>()),
      timer_(std::make_unique<core::ThreadTimer>()) {}

core::Result<std::unique_ptr<AgentHost>> AgentHost::create(const Settings& settings,
                                                           const AgentHostOptions& options) {
  auto schemas = envelope::MessageSchemas::load(options.schema_directory);
  if (!schemas) return schemas.error();
  std::unique_ptr<AgentHost> host(new AgentHost(settings, std::move(*schemas)));
  auto hub = transport::Hub::start();
  if (!hub) return hub.error();
  host->hub_ = std::move(*hub);
  auto runtime = transport::HttpRuntime::start(
      {.workers = worker_count(settings),
       .hub = host->hub_.get(),
       .max_connections = static_cast<std::size_t>(settings.http.max_connections),
       .max_connections_per_address =
           static_cast<std::size_t>(settings.http.connections_per_address),
       .max_local_connections = static_cast<std::size_t>(settings.http.local_connections)});
  if (!runtime) return runtime.error();
  host->runtime_ = std::move(*runtime);
  const auto all = caller_options(settings, options.child_logs);
  auto caller = transport::make_caller(*host->hub_, all);
  if (!caller) return caller.error();
  host->caller_ = std::make_unique<GatedCaller>(
      std::make_unique<transport::PatientCaller>(std::move(*caller), *host->timer_, host->clock_));
  host->sessions_ = std::make_unique<PlainMcpSessions>(*host->hub_, *host->timer_, host->clock_,
                                                       all.lines, settings.calls.mcp_probe);
  if (options.bus) {
    if (auto joined = host->join_bus(*options.bus); !joined) return joined.error();
  }
  return host;
}

AgentHost::~AgentHost() { shut_down(); }

transport::Caller& AgentHost::caller_for(const std::optional<transport::BusSession>& session) {
  if (bus() == nullptr || !session) return *caller_;
  session_callers_.push_back(std::make_unique<GatedCaller>(std::make_unique<SessionCaller>(
      SessionCaller::Context{*hub_, *session, clock_, *timer_, random_, settings_}, *bus(),
      first_bus(), served_first_, *caller_)));
  return *session_callers_.back();
}

void AgentHost::shut_down() {
  // Completions of ended calls may still set timers, and timers may still call: the gate stays,
  // closed.
  for (auto& caller : session_callers_) caller->close();
  if (caller_) caller_->close();
  if (sessions_) sessions_->close();
  timer_.reset();
}

core::Result<void> AgentHost::join_bus(const BusAccess& access) {
  auto warn = [](const std::string& fault) { log::warn("bus: {}", fault); };
  auto bus = connect_bus(access, warn);
  if (!bus) return bus.error();
  bus_ = std::move(*bus);
  auto streams = connect_streams(access, warn);
  if (!streams) return streams.error();
  streams_bus_ = std::move(*streams);
  if (!bus_->is_connected())
    log::warn("the bus at {} cannot be reached yet; looking for it", bus_->url());
  bus_watch_ = bus_->watch([url = bus_->url()](bool is_connected) {
    if (is_connected) return log::info("the bus at {} is there", url);
    log::warn("the bus at {} is lost; looking for it", url);
  });
  if (streams_bus_ && !streams_bus_->is_connected())
    log::warn("streams: the bus at {} cannot be reached yet; looking for it", streams_bus_->url());
  auto first = connect_first(access, warn);
  if (!first) return first.error();
  first_bus_ = std::move(*first);
  served_first_ = access.served_first;
  has_streams_ = access.has_streams;
  bus_session_ = access.session;
  return {};
}

AgentPort::AgentPort(AgentHost& host, std::unique_ptr<audit::AuditLog> log, envelope::Mode mode,
                     std::optional<transport::BusSession> session)
    : host_(host),
      session_(std::move(session)),
      log_(std::move(log)),
      audited_caller_(host.caller_for(session_), *log_, host.clock()),
      audited_sessions_(host.sessions().caller(), *log_, host.clock(),
                        audit::AuditedCaller::Framing::kByTheCaller),
      peers_(
          std::make_unique<PeerClient>(audited_caller_, host.schemas(), host.clock(), mode,
                                       PlainMcp{&audited_sessions_, host.sessions().refusals()})) {}

AgentPort::~AgentPort() { stop_serving(); }

core::Result<std::unique_ptr<AgentPort>> AgentPort::open(AgentHost& host, Options options) {
  constexpr std::uint64_t kMiB = 1U << 20U;
  const auto& limits = host.settings().log;
  audit::AuditLogOptions log_options;
  log_options.path = std::move(options.log);
  log_options.agent = std::move(options.agent);
  log_options.league = std::move(options.league);
  log_options.logs = std::move(options.logs);
  log_options.queue_bytes = static_cast<std::size_t>(limits.queue_mib) * kMiB;
  log_options.segment_bytes = static_cast<std::uint64_t>(limits.segment_mib) * kMiB;
  log_options.min_free_bytes = static_cast<std::uint64_t>(limits.min_free_mib) * kMiB;
  log_options.writer = host.log_writer();
  log_options.on_record = std::move(options.on_record);
  log_options.verifiable = limits.verifiable;
  if (!limits.compresses) log_options.compress_from = 0;
  log_options.seal_interval = limits.seal_interval;
  if (limits.verifiable && !options.log_key.empty()) {
    core::CryptoRandom random;
    auto key = core::SigningKey::open(options.log_key, random);
    if (!key) return key.error();
    log_options.key = std::make_shared<const core::SigningKey>(std::move(*key));
  }
  auto log = audit::AuditLog::open(std::move(log_options), host.clock());
  if (!log) return log.error();
  std::optional<transport::BusSession> session = host.bus_session();
  if (host.bus() != nullptr && !session) {
    auto opened = open_bus_session(options.session_file, host.random());
    if (!opened) return opened.error();
    session = std::move(*opened);
  }
  return std::unique_ptr<AgentPort>(
      new AgentPort(host, std::move(*log), options.mode, std::move(session)));
}

core::Result<void> AgentPort::serve(ListenOptions options, transport::MessageHandler& handler) {
  auto recognise = options.recognise;
  if (!recognise) {
    recognise = [this](std::string_view member, std::string_view shown, std::string_view body) {
      return credentials_.recognise(member, shown, body);
    };
  }
  gate_ = std::make_shared<transport::RequestGate>(host_.settings().request_budgets(),
                                                   std::move(recognise), host_.clock());
  budgeted_handler_ = std::make_unique<transport::BudgetedHandler>(audited(handler), *gate_);
  options.http.gate = gate_;
  auto listener =
      AgentListener::start(host_.runtime(), host_.hub(), std::move(options), *budgeted_handler_);
  if (!listener) return listener.error();
  report_refusals(host_.timer(), gate_);
  listener_ = std::move(*listener);
  return {};
}

void AgentPort::set_budgets(const transport::RequestBudgetOptions& budgets) {
  if (gate_) gate_->set_budgets(budgets);
}

transport::MessageHandler& AgentPort::audited(transport::MessageHandler& handler) {
  if (!audited_handler_) {
    guard_ = std::make_unique<ExceptionGuard>(handler);
    audited_handler_ = std::make_unique<audit::AuditedHandler>(*guard_, *log_, host_.clock());
  }
  return *audited_handler_;
}

core::Result<void> AgentPort::serve_session(transport::MessageHandler& handler,
                                            const std::string& manager_url) {
  auto started = BusAgent::start(*host_.bus(), *session_, manager_url, audited(handler),
                                 {host_.clock(), host_.timer(), host_.random()});
  if (!started) return started.error();
  bus_agent_ = std::move(*started);
  return {};
}

core::Result<void> AgentPort::hear_events(transport::MessageHandler& handler,
                                          const std::string& league_id,
                                          std::set<envelope::MessageType> types) {
  if (host_.bus() == nullptr || !session_ || league_id.empty()) return {};
  std::lock_guard lock(events_mutex_);
  if (is_deaf_) return {};
  if (event_listener_ && event_listener_->league_id() == league_id) return {};
  event_listener_.reset();
  event_gate_ = std::make_unique<EventGate>(handler, std::move(types));
  // In front of the gate: the log shows what came, also what is dropped.
  audited_events_ = std::make_unique<audit::AuditedHandler>(*event_gate_, *log_, host_.clock());
  auto started = EventListener::start(*host_.bus(), *session_, league_id, *event_gate_,
                                      *audited_events_, host_.clock());
  if (!started) return started.error();
  event_listener_ = std::move(*started);  // shared with who releases it
  return {};
}

void AgentPort::trust_events(const Identity& identity) {
  std::shared_ptr<EventListener> listener;
  {
    std::lock_guard lock(events_mutex_);
    if (!event_listener_) return;
    event_gate_->trust(identity);
    if (identity.broadcast_key.empty()) {
      listener.swap(event_listener_);
      return;
    }
    listener = event_listener_;
  }
  listener->release();
}

core::Result<void> AgentPort::serve_sessions(transport::MessageHandler& handler,
                                             transport::BusSessionsOptions options) {
  options.first_bus = host_.first_bus();
  options.served_first = host_.served_first();
  options.gate = gate_;
  auto started = transport::BusSessions::start(*host_.bus(), audited(handler), host_.clock(),
                                               host_.timer(), host_.random(), std::move(options));
  if (!started) return started.error();
  bus_sessions_ = std::move(*started);
  return {};
}

void AgentPort::expect_session(const std::string& contact_endpoint) {
  auto endpoint = transport::parse_endpoint(contact_endpoint);
  if (!bus_sessions_ || !endpoint || endpoint->scheme != "nats") return;
  auto session = transport::BusSession::parse(endpoint->path);
  if (!session) return;
  if (auto attached = bus_sessions_->attach(*session); !attached)
    log::warn("{}: {}", contact_endpoint, attached.error().message);
}

std::string AgentPort::session_url() const {
  return host_.bus() != nullptr && session_ ? "nats:" + session_->str() : std::string();
}

transport::JetStream* AgentPort::streams() {
  if (!host_.has_streams() || !session_) return nullptr;
  std::lock_guard lock(streams_mutex_);
  if (has_stopped_) return nullptr;
  if (streams_) return streams_.get();
  auto made = transport::JetStream::create(host_.streams_bus(), *session_, host_.clock(),
                                           host_.timer(), host_.random());
  if (!made) {
    log::warn("streams of the bus: {}", made.error().message);
    return nullptr;
  }
  streams_ = std::move(*made);
  return streams_.get();
}

void AgentPort::begin_stop() {
  if (listener_) listener_->begin_stop();
  if (bus_agent_) bus_agent_->begin_stop();
  if (bus_sessions_) bus_sessions_->begin_stop();
}

void AgentPort::stop_serving() {
  constexpr std::chrono::milliseconds kGrace{1000};
  constexpr std::chrono::milliseconds kLastNews{300};
  constexpr std::chrono::milliseconds kQuiet{20};
  constexpr std::chrono::milliseconds kNoTime{0};
  begin_stop();
  std::shared_ptr<EventListener> events;
  {
    std::lock_guard lock(events_mutex_);
    is_deaf_ = true;
    events = std::move(event_listener_);
  }
  // The end of the league may be on its way. All agents of the process are on one connection: what
  // the first has waited for the others have too.
  if (events) events->catch_up(kLastNews, host_.is_first_to_stop() ? kQuiet : kNoTime);
  events.reset();
  if (bus_agent_) bus_agent_->stop(kGrace);
  if (bus_sessions_) bus_sessions_->stop(kGrace);
  if (listener_) listener_->stop();
  bus_agent_.reset();  // they use the host's timer
  bus_sessions_.reset();
  end_streams();
}

void AgentPort::end_streams() {
  transport::JetStream* streams = nullptr;
  {
    std::lock_guard lock(streams_mutex_);
    has_stopped_ = true;
    streams = streams_.get();
  }
  // Kept: who is past its last check may still ask, and is told that all is over.
  if (streams != nullptr) streams->end();
}

std::uint16_t AgentPort::port() const { return listener_ ? listener_->port() : 0; }

}  // namespace league::agent
