#include "tools/league/client/mcp_access.h"

#include <cstdlib>
#include <iostream>

#include "common/mcp/client/elicitation.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

/// How long the other side may take to end the session.
constexpr std::chrono::seconds kFarewell{3};

bool has_scheme(const std::string& url) {
  return url.find("://") != std::string::npos || url.starts_with("stdio:") ||
         url.starts_with("unix:") || url.starts_with("nats:");
}

}  // namespace

core::Result<transport::link::Endpoint> parse_typed_endpoint(const std::string& url) {
  if (url.starts_with("sse+http")) {
    auto stream = transport::link::parse_endpoint(url.substr(4));
    if (stream) stream->scheme.insert(0, "sse+");
    return stream;
  }
  auto endpoint = transport::link::parse_endpoint(has_scheme(url) ? url : "http://" + url);
  if (endpoint && transport::link::is_http(*endpoint) && endpoint->path == "/")
    endpoint->path = "/mcp";
  return endpoint;
}

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe): nobody sets it
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

core::Result<std::unique_ptr<McpAccess>> McpAccess::open(const std::string& url,
                                                         const Options& options) {
  auto endpoint = parse_typed_endpoint(url);
  if (!endpoint) return endpoint.error();
  std::unique_ptr<McpAccess> access(new McpAccess());
  mcp::client::SessionOptions session;
  if (!options.credential.empty()) {
    auto credential = GatewayCredential::parse(options.credential, environment_variable);
    if (!credential) return credential.error();
    access->credential_ = std::move(*credential);
  }
  transport::caller::AnyConnectorOptions connector;
  if (options.shows_child_errors) {
    connector.lines.on_stderr = [](std::string_view /*command*/, std::string_view line) {
      std::cerr << safe_text(std::string(line)) << '\n';
    };
  }
  access->credential_.apply(*endpoint, session.headers);
  session.longest_probe = options.longest_probe;
  session.may_fall_back_to_sse = true;
  if (options.answers) {
    session.client.capabilities = mcp::client::elicitation_capability();
    session.on_request = [given = *options.answers](rpc::Request question,
                                                    const mcp::client::AnswerServer& answer) {
      auto result = mcp::client::answer_question(question.method, question.params, given);
      answer(result ? rpc::make_result(question.id, std::move(*result))
                    : rpc::make_error(question.id, rpc::StandardCode::kMethodNotFound));
    };
  }
  connector.web_socket.headers = session.headers;
  auto loop = transport::link::EventLoop::start();
  if (!loop) return loop.error();
  access->loop_ = std::move(*loop);
  access->timer_ = std::make_unique<core::ThreadTimer>();
  if (endpoint->scheme == "nats") {
    auto bus = BusLink::join(options.bus,
                             {*access->loop_, *access->timer_, access->clock_, access->random_});
    if (!bus) return bus.error();
    access->bus_ = std::move(*bus);
    connector.bus = access->bus_->connector();
  }
  connector.legacy_sse = std::make_shared<transport::client::LegacySseConnector>(
      *access->loop_, transport::client::LegacySseOptions{session.headers, {}, {}});
  access->connector_ = transport::caller::make_connector(*access->loop_, connector);
  access->deadline_ = access->clock_.steady_now() + options.patience;
  session.on_disconnected = [ended = access->disconnected_] { ended->set_value(); };
  access->scope_ = std::make_unique<task::Scope>(task::Executor(), nullptr);
  access->session_ =
      mcp::client::ClientSession::create({*access->connector_, *access->timer_, access->clock_},
                                         *access->scope_, std::move(*endpoint), std::move(session));
  return access;
}

McpAccess::~McpAccess() {
  if (session_) {
    scope_->executor().post([session = session_] { session->close(); });
    if (negotiated_) disconnected_->get_future().wait_for(kFarewell);
  }
  scope_ = nullptr;
  session_ = nullptr;
  connector_ = nullptr;
  bus_ = nullptr;
  timer_ = nullptr;
  loop_ = nullptr;
}

core::Result<mcp::client::Negotiated> McpAccess::connect() {
  auto result = wait(session_->connect(deadline_));
  if (result) negotiated_ = *result;
  return result;
}

std::string McpAccess::transport_name() const {
  return std::string(rpc::to_string(negotiated_->transport));
}

bool McpAccess::has_argument_headers() const {
  return negotiated_->is_modern && negotiated_->transport == rpc::TransportType::kHttp;
}

core::Error McpAccess::scrubbed(core::Error error) const {
  error.message = credential_.scrub(std::move(error.message));
  return error;
}

}  // namespace league::tools
