#include "common/agent/agent_host.h"

#include <algorithm>
#include <thread>

#include "common/agent/child_log.h"
#include "common/transport/any_caller.h"

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
  options.game_threads = static_cast<std::size_t>(settings.calls.game);
  options.broadcast_threads = static_cast<std::size_t>(settings.calls.broadcast);
  options.control_threads = static_cast<std::size_t>(settings.calls.control);
  options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  options.max_response = settings.calls.max_reply_bytes;
  return all;
}

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
           static_cast<std::size_t>(settings.http.connections_per_address)});
  if (!runtime) return runtime.error();
  host->runtime_ = std::move(*runtime);
  const auto all = caller_options(settings, options.child_logs);
  auto caller = transport::make_caller(*host->hub_, all);
  if (!caller) return caller.error();
  host->caller_ = std::make_unique<GatedCaller>(std::move(*caller));
  host->sessions_ =
      std::make_unique<PlainMcpSessions>(*host->hub_, *host->timer_, host->clock_, all.lines);
  return host;
}

AgentHost::~AgentHost() { shut_down(); }

void AgentHost::shut_down() {
  // Completions of ended calls may still set timers, and timers may still call: the gate stays,
  // closed.
  if (caller_) caller_->close();
  if (sessions_) sessions_->close();
  timer_.reset();
}

AgentPort::AgentPort(AgentHost& host, std::unique_ptr<audit::AuditLog> log, envelope::Mode mode)
    : host_(host),
      log_(std::move(log)),
      audited_caller_(host.caller(), *log_, host.clock()),
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
  log_options.league_id = std::move(options.league_id);
  log_options.queue_bytes = static_cast<std::size_t>(limits.queue_mib) * kMiB;
  log_options.segment_bytes = static_cast<std::uint64_t>(limits.segment_mib) * kMiB;
  log_options.min_free_bytes = static_cast<std::uint64_t>(limits.min_free_mib) * kMiB;
  log_options.writer = host.log_writer();
  log_options.verifiable = limits.verifiable;
  log_options.seal_interval = limits.seal_interval;
  if (limits.verifiable && !options.log_key.empty()) {
    core::CryptoRandom random;
    auto key = core::SigningKey::open(options.log_key, random);
    if (!key) return key.error();
    log_options.key = std::make_shared<const core::SigningKey>(std::move(*key));
  }
  auto log = audit::AuditLog::open(std::move(log_options), host.clock());
  if (!log) return log.error();
  return std::unique_ptr<AgentPort>(new AgentPort(host, std::move(*log), options.mode));
}

core::Result<void> AgentPort::serve(ListenOptions options, transport::MessageHandler& handler) {
  audited_handler_ = std::make_unique<audit::AuditedHandler>(handler, *log_, host_.clock());
  auto listener =
      AgentListener::start(host_.runtime(), host_.hub(), std::move(options), *audited_handler_);
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  return {};
}

void AgentPort::begin_stop() {
  if (listener_) listener_->begin_stop();
}

void AgentPort::stop_serving() {
  if (listener_) listener_->stop();
}

std::uint16_t AgentPort::port() const { return listener_ ? listener_->port() : 0; }

}  // namespace league::agent
