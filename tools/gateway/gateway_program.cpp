#include "tools/gateway/gateway_program.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "common/audit/calls/audited_handler.h"
#include "common/audit/log/audit_log.h"
#include "common/core/timer.h"
#include "common/transport/caller/any_connector.h"
#include "common/transport/client/legacy_sse_connection.h"
#include "common/transport/front/http_server.h"
#include "common/transport/line/stdio_server.h"
#include "tools/gateway/gateway.h"
#include "tools/gateway/gateway_headers.h"
#include "tools/gateway/gateway_links.h"
#include "tools/gateway/gateway_sse.h"
#include "tools/league/client/mcp_access.h"
#include "tools/league/up/table_text.h"

namespace league::tools::gateway {
namespace {

using std::chrono::milliseconds;

/// A log that discards everything.
class NoRecords final : public audit::record::RecordSink {
 public:
  void append(audit::record::Record /*record*/) override {}
};

void say(const std::string& what) { std::cerr << "gateway: " << safe_text(what) << std::endl; }

/// Everything that a gateway needs; the order of the members is that of their lifetimes.
class GatewayProgram {
 public:
  GatewayProgram(const GatewayProgramOptions& options, transport::link::StopSignal& stop)
      : options_(options), stop_(stop) {}
  ~GatewayProgram();
  GatewayProgram(const GatewayProgram&) = delete;
  GatewayProgram& operator=(const GatewayProgram&) = delete;

  core::Result<void> start();
  void run();

 private:
  core::Result<void> open_log();
  core::Result<void> make_backend(const transport::link::Endpoint& endpoint);
  void make_link(transport::link::Endpoint endpoint);
  core::Result<void> serve();
  core::Result<void> serve_http();
  core::Result<void> serve_bus();
  void announce(const std::string& url) const;
  [[nodiscard]] std::size_t max_result() const { return options_.max_result_mib * 1024 * 1024; }
  /// The number of bytes that may be queued for one client: a result and the messages during its
  /// transfer.
  [[nodiscard]] std::size_t queue_for_results() const { return max_result() + max_request(); }
  [[nodiscard]] std::size_t max_request() const { return options_.max_request_mib * 1024 * 1024; }
  [[nodiscard]] audit::record::RecordSink& log() {
    if (log_) return *log_;
    return no_log_;
  }

  const GatewayProgramOptions& options_;
  transport::link::StopSignal& stop_;
  core::SystemClock clock_;
  core::CryptoRandom random_;
  NoRecords no_log_;
  std::unique_ptr<audit::log::AuditLog> log_;
  std::unique_ptr<transport::link::EventLoop> loop_;
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::unique_ptr<core::ThreadTimer> timer_;
  GatewayCredential credential_;
  std::unique_ptr<BusLink> bus_;  ///< null: not on a bus
  std::shared_ptr<transport::link::Connector> connector_;
  std::unique_ptr<GatewayBackend> backend_;
  GatewayLinks* links_ = nullptr;  ///< the backend, if it has sessions
  std::unique_ptr<Gateway> gateway_;
  std::unique_ptr<audit::calls::AuditedHandler> audited_;
  std::unique_ptr<transport::front::HttpServer> server_;
  std::shared_ptr<void> listener_;  ///< of the bus
  std::shared_ptr<transport::link::ServedConnection> stdio_;
};

GatewayProgram::~GatewayProgram() {
  if (stdio_) stdio_->close();
  if (server_) server_->stop();
  listener_ = nullptr;
  server_ = nullptr;
  backend_ = nullptr;
  connector_ = nullptr;
  bus_ = nullptr;
  timer_ = nullptr;
  runtime_ = nullptr;
  loop_ = nullptr;
  if (log_) log_->close();
}

core::Result<void> GatewayProgram::open_log() {
  if (options_.logs.empty()) return {};
  std::error_code failed;
  std::filesystem::create_directories(options_.logs, failed);
  audit::log::AuditLogOptions log;
  log.path = options_.logs / "gateway.log.jsonl";
  log.agent = "gateway";
  auto opened = audit::log::AuditLog::open(std::move(log), clock_);
  if (!opened) return opened.error();
  log_ = std::move(*opened);
  return {};
}

core::Result<void> GatewayProgram::start() {
  auto endpoint = parse_typed_endpoint(options_.backend);
  if (!endpoint) return endpoint.error();
  if (!options_.credential.empty()) {
    auto credential = GatewayCredential::parse(options_.credential, environment_variable);
    if (!credential) return credential.error();
    credential_ = std::move(*credential);
  }
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  loop_ = std::move(*loop);
  timer_ = std::make_unique<core::ThreadTimer>();
  if (auto opened = open_log(); !opened) return opened.error();
  if (endpoint->scheme == "nats" || options_.serves_bus) {
    auto bus = BusLink::join(options_.bus, {*loop_, *timer_, clock_, random_});
    if (!bus) return bus.error();
    bus_ = std::move(*bus);
  }
  if (auto made = make_backend(*endpoint); !made) return made.error();
  return serve();
}

core::Result<void> GatewayProgram::make_backend(const transport::link::Endpoint& endpoint) {
  if (endpoint.scheme.starts_with("sse+")) {
    GatewaySseOptions sse{endpoint, credential_, milliseconds(options_.connect_timeout_ms),
                          max_result()};
    backend_ = std::make_unique<GatewaySseBackend>(
        GatewaySseBackend::Tools{*loop_, *timer_, clock_, log()}, std::move(sse));
  } else {
    make_link(endpoint);
  }
  GatewayOptions gateway;
  gateway.call_timeout = milliseconds(options_.call_timeout_ms);
  gateway.has_sessions = true;
  gateway.timer = timer_.get();
  if (!options_.allow_tools.empty())
    gateway.allowed_tools =
        std::set<std::string>(options_.allow_tools.begin(), options_.allow_tools.end());
  gateway_ = std::make_unique<Gateway>(std::move(gateway), *backend_, clock_, random_);
  audited_ = std::make_unique<audit::calls::AuditedHandler>(*gateway_, log(), clock_);
  // A child process is started now, so that the first client does not wait for it; a failure is
  // retried later. Not for a client on our standard streams, whose capabilities must be known
  // first.
  if (links_ != nullptr && !options_.serves_stdio) links_->connect();
  return {};
}

void GatewayProgram::make_link(transport::link::Endpoint endpoint) {
  mcp::client::Headers headers{kVia};
  credential_.apply(endpoint, headers);
  transport::caller::AnyConnectorOptions connector;
  connector.web_socket.headers = headers;
  connector.lines.on_stderr = [](std::string_view /*command*/, std::string_view line) {
    std::cerr << "backend: " << safe_text(std::string(line)) << std::endl;
  };
  connector.http.limits.max_message = max_result();
  connector.web_socket.max_message = max_result();
  connector.lines.limits.max_line = max_result();
  if (bus_) connector.bus = bus_->connector();
  connector.legacy_sse = std::make_shared<transport::client::LegacySseConnector>(*loop_);
  connector_ = transport::caller::make_connector(*loop_, connector);
  GatewayLinksOptions links;
  GatewayLinkOptions& link = links.shared;
  link.endpoint = std::move(endpoint);
  link.headers = std::move(headers);
  link.connect_timeout = milliseconds(options_.connect_timeout_ms);
  link.longest_probe = milliseconds(options_.probe_timeout_ms);
  link.scrub = [this](std::string text) { return credential_.scrub(std::move(text)); };
  link.on_change = say;
  links.most_own = options_.max_own_sessions;
  if (links.most_own == 0) links.most_own = link.endpoint.scheme == "stdio" ? 32 : 1000;
  auto made = std::make_unique<GatewayLinks>(
      mcp::client::SessionTools{*connector_, *timer_, clock_}, log(), std::move(links));
  links_ = made.get();
  backend_ = std::move(made);
}

core::Result<void> GatewayProgram::serve() {
  if (options_.serves_bus) return serve_bus();
  if (!options_.serves_stdio) return serve_http();
  transport::line::LineLimits limits;
  limits.max_line = max_request();
  limits.max_queued = queue_for_results();
  auto served = transport::line::serve_stdio(
      *loop_, *audited_, [this] { stop_.request_stop(); }, limits);
  if (!served) return served.error();
  stdio_ = std::move(*served);
  return {};
}

core::Result<void> GatewayProgram::serve_bus() {
  auto started = bus_->serve(*audited_, clock_);
  if (!started) return started.error();
  listener_ = std::move(*started);
  announce("nats:" + bus_->session().str());
  return {};
}

void GatewayProgram::announce(const std::string& url) const {
  std::cout << (options_.json ? nlohmann::json{{"ready", url}}.dump() : "ready " + url)
            << std::endl;
}

core::Result<void> GatewayProgram::serve_http() {
  auto runtime = transport::front::HttpRuntime::start({.loop = loop_.get()});
  if (!runtime) return runtime.error();
  runtime_ = std::move(*runtime);
  transport::http::HttpServerOptions server;
  server.bind_address = options_.bind;
  server.port = options_.port;
  server.allow_hosts = options_.allow_hosts;
  server.allow_origins = options_.allow_origins;
  server.limits.max_body = max_request();
  server.streams.max_queue = queue_for_results();
  auto started = transport::front::HttpServer::start(*runtime_, server, *audited_);
  if (!started) return started.error();
  server_ = std::move(*started);
  bool is_any = options_.bind == "127.0.0.1" || options_.bind == "0.0.0.0";
  announce("http://" + (is_any ? "localhost" : options_.bind) + ":" +
           std::to_string(server_->port()) + "/mcp");
  return {};
}

void GatewayProgram::run() { stop_.wait(); }

}  // namespace

int run_gateway(const GatewayProgramOptions& options, transport::link::StopSignal& stop) {
  GatewayProgram program(options, stop);
  if (auto started = program.start(); !started) {
    std::cerr << "error: " << safe_text(started.error().message) << '\n';
    return 2;
  }
  program.run();
  return 0;
}

}  // namespace league::tools::gateway
