#include "common/agent/agent_host.h"

#include <algorithm>
#include <thread>

#include "common/transport/http_caller.h"

namespace league::agent {
namespace {

std::size_t worker_count(const Settings& settings) {
  if (settings.http.workers > 0) return static_cast<std::size_t>(settings.http.workers);
  return std::max<std::size_t>(2, std::thread::hardware_concurrency());
}

transport::HttpCallerOptions caller_options(const Settings& settings) {
  transport::HttpCallerOptions options;
  options.game_threads = static_cast<std::size_t>(settings.calls.game);
  options.broadcast_threads = static_cast<std::size_t>(settings.calls.broadcast);
  options.control_threads = static_cast<std::size_t>(settings.calls.control);
  options.max_per_endpoint = static_cast<std::size_t>(settings.calls.per_peer);
  options.max_response = settings.calls.max_reply_bytes;
  return options;
}

}  // namespace

AgentHost::AgentHost(const Settings& settings, envelope::MessageSchemas schemas)
    : settings_(settings),
      schemas_(std::move(schemas)),
      log_writer_(std::make_shared<audit::LogWriter>()),
      timer_(std::make_unique<core::ThreadTimer>()) {}

core::Result<std::unique_ptr<AgentHost>> AgentHost::create(
    const Settings& settings, const std::optional<std::filesystem::path>& schema_directory) {
  auto schemas = envelope::MessageSchemas::load(schema_directory);
  if (!schemas) return schemas.error();
  std::unique_ptr<AgentHost> host(new AgentHost(settings, std::move(*schemas)));
  auto runtime = transport::HttpRuntime::start(
      {.workers = worker_count(settings),
       .max_connections = static_cast<std::size_t>(settings.http.max_connections),
       .max_connections_per_address =
           static_cast<std::size_t>(settings.http.connections_per_address)});
  if (!runtime) return runtime.error();
  host->runtime_ = std::move(*runtime);
  auto caller = transport::HttpCaller::create(caller_options(settings));
  if (!caller) return caller.error();
  host->caller_ = std::make_unique<GatedCaller>(std::move(*caller));
  return host;
}

AgentHost::~AgentHost() { shut_down(); }

void AgentHost::shut_down() {
  // Completions of ended calls may still set timers, and timers may still call: the gate stays,
  // closed.
  if (caller_) caller_->close();
  timer_.reset();
}

AgentPort::AgentPort(AgentHost& host, std::unique_ptr<audit::AuditLog> log, envelope::Mode mode)
    : host_(host),
      log_(std::move(log)),
      audited_caller_(host.caller(), *log_, host.clock()),
      peers_(std::make_unique<PeerClient>(audited_caller_, host.schemas(), host.clock(), mode)) {}

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

core::Result<void> AgentPort::serve(transport::HttpServerOptions options,
                                    transport::MessageHandler& handler) {
  audited_handler_ = std::make_unique<audit::AuditedHandler>(handler, *log_, host_.clock());
  auto server = transport::HttpServer::start(host_.runtime(), options, *audited_handler_);
  if (!server) return server.error();
  server_ = std::move(*server);
  return {};
}

void AgentPort::begin_stop() {
  if (server_) server_->begin_stop();
}

void AgentPort::stop_serving() {
  if (server_) server_->stop();
}

std::uint16_t AgentPort::port() const { return server_ ? server_->port() : 0; }

transport::HttpServerOptions server_options(const Settings& settings, std::string bind_address,
                                            std::uint16_t port,
                                            std::vector<std::string> allow_hosts) {
  transport::HttpServerOptions options;
  options.bind_address = std::move(bind_address);
  options.port = port;
  options.limits.max_head = settings.http.max_head_bytes;
  options.limits.max_body = settings.http.max_body_bytes;
  options.limits.request_timeout = settings.http.request_time;
  options.limits.idle_timeout = settings.http.idle_time;
  options.allow_hosts = std::move(allow_hosts);
  return options;
}

}  // namespace league::agent
