#include "common/agent/host/agent_host.h"

#include <algorithm>
#include <array>
#include <thread>

#include "common/agent/peers/refusal_report.h"
#include "common/agent/runtime/child_log.h"
#include "common/rpc/seat_address.h"
#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/client/web_socket_connection.h"

namespace league::agent::host {
namespace {

std::size_t worker_count(const runtime::Settings& settings) {
  if (settings.http.workers > 0) return static_cast<std::size_t>(settings.http.workers);
  return std::max<std::size_t>(2, std::thread::hardware_concurrency());
}

transport::caller::EndpointCallerOptions caller_options(const runtime::Settings& settings,
                                                        const std::filesystem::path& child_logs) {
  transport::caller::EndpointCallerOptions all;
  all.links.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  // Long enough for child processes to seal their logs before they end.
  all.links.farewell = std::chrono::milliseconds(1800);
  all.lines.limits.max_line = settings.calls.max_reply_bytes;
  all.lines.on_stderr = runtime::child_log(child_logs);
  transport::caller::HttpCallerOptions& options = all.http;
  options.game_calls = static_cast<std::size_t>(settings.calls.game);
  options.broadcast_calls = static_cast<std::size_t>(settings.calls.broadcast);
  options.control_calls = static_cast<std::size_t>(settings.calls.control);
  options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  options.max_response = settings.calls.max_reply_bytes;
  return all;
}

bool is_league_method(std::string_view method) {
  constexpr std::array kRoles{envelope::Role::kPlayer, envelope::Role::kReferee,
                              envelope::Role::kLeagueManager};
  return std::ranges::any_of(kRoles, [method](envelope::Role role) {
    return envelope::message_type_from_method(method, role).has_value();
  });
}

}  // namespace

AgentHost::AgentHost(const runtime::Settings& settings, envelope::MessageSchemas schemas)
    : settings_(settings),
      schemas_(std::move(schemas)),
      log_writer_(std::make_shared<audit::log::LogWriter>()),
      timer_(std::make_unique<core::ThreadTimer>()) {}

core::Result<std::unique_ptr<AgentHost>> AgentHost::create(const runtime::Settings& settings,
                                                           const AgentHostOptions& options) {
  auto schemas = envelope::MessageSchemas::load(options.schema_directory);
  if (!schemas) return schemas.error();
  std::unique_ptr<AgentHost> host(new AgentHost(settings, std::move(*schemas)));
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  host->loop_ = std::move(*loop);
  auto runtime = transport::front::HttpRuntime::start(
      {.workers = worker_count(settings),
       .loop = host->loop_.get(),
       .max_connections = static_cast<std::size_t>(settings.http.max_connections),
       .max_connections_per_address =
           static_cast<std::size_t>(settings.http.connections_per_address),
       .max_local_connections = static_cast<std::size_t>(settings.http.local_connections)});
  if (!runtime) return runtime.error();
  host->runtime_ = std::move(*runtime);
  const auto all = caller_options(settings, options.child_logs);
  auto caller =
      transport::caller::EndpointCaller::create(*host->loop_, *host->timer_, host->clock_, all);
  if (!caller) return caller.error();
  host->caller_ = std::move(*caller);
  host->sessions_ = std::make_unique<peers::PlainMcpSessions>(
      *host->loop_, *host->timer_, host->clock_, all.lines, settings.calls.mcp_probe);
  if (options.bus.is_wanted()) {
    auto joined = bus::HostBus::join(options.bus);
    if (!joined) return joined.error();
    host->bus_ = std::move(*joined);
  }
  return host;
}

AgentHost::~AgentHost() { shut_down(); }

transport::link::Caller& AgentHost::caller_for(
    const std::optional<transport::link::BusSession>& session) {
  if (!bus_ || !session) return *caller_;
  session_callers_.push_back(std::make_unique<transport::caller::ClosableCaller>(
      bus_->caller_for(*session, {*loop_, clock_, *timer_, random_, settings_}, *caller_)));
  return *session_callers_.back();
}

void AgentHost::shut_down() {
  // Completions of ended calls may still set timers, and timers may still make calls. So the
  // callers are closed but not destroyed.
  for (auto& caller : session_callers_) caller->close();
  if (caller_) caller_->close();
  if (sessions_) sessions_->close();
  timer_.reset();
}

AgentPort::AgentPort(AgentHost& host, std::unique_ptr<audit::log::AuditLog> log,
                     envelope::Mode mode, std::optional<transport::link::BusSession> session,
                     seats::Seats* seats)
    : host_(host),
      session_(std::move(session)),
      seats_(seats),
      log_(std::move(log)),
      seat_caller_(host.caller_for(session_), seats, host.clock()),
      batches_(seat_caller_),
      audited_caller_(batches_, *log_, host.clock()),
      audited_sessions_(host.sessions().caller(), *log_, host.clock(),
                        audit::calls::AuditedCaller::Framing::kByTheCaller),
      peers_(std::make_unique<peers::PeerClient>(
          audited_caller_, host.schemas(), host.clock(), mode,
          peers::PlainMcp{&audited_sessions_, host.sessions().refusals()})) {
  if (host.on_bus() == nullptr || !session_) return;
  on_bus_ = host.on_bus()->open_port({*session_, *log_, host.clock(), host.timer(), host.random()});
}

AgentPort::~AgentPort() { stop_serving(); }

core::Result<std::unique_ptr<AgentPort>> AgentPort::open(AgentHost& host, Options options) {
  constexpr std::uint64_t kMiB = 1U << 20U;
  const auto& limits = host.settings().log;
  audit::log::AuditLogOptions log_options;
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
  auto log = audit::log::AuditLog::open(std::move(log_options), host.clock());
  if (!log) return log.error();
  std::optional<transport::link::BusSession> session;
  if (host.on_bus() != nullptr) {
    auto opened = host.on_bus()->open_session(options.session_file, host.random());
    if (!opened) return opened.error();
    session = std::move(*opened);
  }
  return std::unique_ptr<AgentPort>(
      new AgentPort(host, std::move(*log), options.mode, std::move(session), options.seats));
}

core::Result<void> AgentPort::serve(ListenOptions options,
                                    transport::link::MessageHandler& handler) {
  auto recognise = options.recognise;
  if (!recognise) {
    recognise = [this](std::string_view member, std::string_view shown, std::string_view body) {
      return credentials_.recognise(member, shown, body);
    };
  }
  limiter_ = std::make_shared<transport::link::RateLimiter>(host_.settings().request_budgets(),
                                                            std::move(recognise), host_.clock());
  budgeted_handler_ =
      std::make_unique<transport::link::BudgetedHandler>(audited(handler), *limiter_);
  batch_handler_ =
      std::make_unique<transport::http::BatchHandler>(*budgeted_handler_, is_league_method);
  options.http.limiter = limiter_;
  for (auto& page : options.pages)
    page.handler = runtime::guarded(std::move(page.handler), "the page " + page.path);
  transport::link::MessageHandler* first = batch_handler_.get();
  if (seats_ != nullptr) {
    seat_answers_ = std::make_unique<seats::SeatAnswers>(*first, *seats_);
    first = seat_answers_.get();
    options.http.folder = rpc::kSeatsPath;
  }
  auto listener = AgentListener::start(host_.runtime(), host_.loop(), std::move(options), *first);
  if (!listener) return listener.error();
  peers::report_refusals(host_.timer(), limiter_);
  listener_ = std::move(*listener);
  return {};
}

void AgentPort::take_seat(const transport::link::Endpoint& manager,
                          const identity::Identity& identity,
                          transport::link::MessageHandler& handler,
                          seats::SeatClient::Ended ended) {
  seat_client_ = std::make_unique<seats::SeatClient>(
      seats::SeatClient::Context{
          std::make_shared<transport::client::WebSocketConnector>(host_.loop()), host_.timer(),
          host_.clock(), host_.random()},
      seats::SeatHolder{manager, identity.id, identity.token}, audited(handler), std::move(ended));
  seat_client_->begin();
}

void AgentPort::set_budgets(const transport::link::RequestBudgetOptions& budgets) {
  if (limiter_) limiter_->set_budgets(budgets);
}

transport::link::MessageHandler& AgentPort::audited(transport::link::MessageHandler& handler) {
  if (!audited_handler_) {
    guard_ = std::make_unique<runtime::ExceptionGuard>(handler);
    audited_handler_ =
        std::make_unique<audit::calls::AuditedHandler>(*guard_, *log_, host_.clock());
  }
  return *audited_handler_;
}

core::Result<void> AgentPort::serve_session(transport::link::MessageHandler& handler,
                                            const std::string& manager_url) {
  return on_bus_->serve_session(audited(handler), manager_url);
}

core::Result<void> AgentPort::hear_events(transport::link::MessageHandler& handler,
                                          const std::string& league_id,
                                          std::set<envelope::MessageType> types) {
  return on_bus_ ? on_bus_->hear_events(handler, league_id, std::move(types))
                 : core::Result<void>();
}

void AgentPort::trust_events(const identity::Identity& identity) {
  if (on_bus_) on_bus_->trust_events(identity);
}

std::string AgentPort::session_url() const {
  return on_bus_ ? "nats:" + session_->str() : std::string();
}

void AgentPort::begin_stop() {
  if (listener_) listener_->begin_stop();
  if (on_bus_) on_bus_->begin_stop();
}

void AgentPort::stop_serving() {
  begin_stop();
  if (on_bus_) on_bus_->stop([this] { return host_.is_first_to_stop(); });
  if (listener_) listener_->stop();
  seat_client_.reset();
  if (on_bus_) on_bus_->close();
}

std::uint16_t AgentPort::port() const { return listener_ ? listener_->port() : 0; }

}  // namespace league::agent::host
