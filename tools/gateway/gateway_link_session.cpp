#include <algorithm>

#include "common/core/text.h"
#include "common/rpc/json_text.h"
#include "tools/gateway/gateway_link_shared.h"

namespace league::tools::gateway {
namespace {

using core::Error;
using core::ErrorCode;
using SessionPtr = std::shared_ptr<mcp::client::ClientSession>;
using Steady = core::Clock::Steady;

task::Task<void> set_again(SessionPtr there, mcp::client::SessionRequest request) {
  (void)co_await there->ask(std::move(request));
}

Error stopping() { return {ErrorCode::kShuttingDown, "the gateway is stopping", {}}; }

/// Further subscriptions of a client are not restored.
constexpr std::size_t kMostSubscriptions = 1000;

}  // namespace

void GatewaySessionState::note(const rpc::Request& request) {
  if (!request.params.is_object()) return;
  if (request.method == "logging/setLevel") {
    level_ = request.params.value("level", nlohmann::json());
    return;
  }
  auto uri = request.params.find("uri");
  if (uri == request.params.end() || !uri->is_string()) return;
  if (request.method == "resources/unsubscribe") {
    subscriptions_.erase(uri->get<std::string>());
  } else if (request.method == "resources/subscribe" &&
             subscriptions_.size() < kMostSubscriptions) {
    subscriptions_.insert(uri->get<std::string>());
  }
}

std::vector<GatewaySessionState::Setting> GatewaySessionState::settings() const {
  std::vector<Setting> all;
  if (!level_.is_null()) all.push_back({"logging/setLevel", {{"level", level_}}});
  for (const auto& uri : subscriptions_) all.push_back({"resources/subscribe", {{"uri", uri}}});
  return all;
}

SessionPtr GatewayLink::Shared::make_session() {
  mcp::client::SessionOptions session_options;
  session_options.client.name = "league-gateway";
  session_options.headers = options.headers;
  session_options.client.capabilities = options.client_capabilities;
  session_options.skips_discovery = options.is_own;
  session_options.longest_probe = options.longest_probe;
  session_options.may_fall_back_to_sse = true;
  session_options.on_closed = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) {
      self->loss = why;
      self->lost.open(true);
    }
  };
  if (options.on_notification) {
    session_options.on_notification = [weak = weak_from_this()](const rpc::Notification& news,
                                                                const rpc::MessageContext&) {
      if (auto self = weak.lock()) self->options.on_notification(news);
    };
  }
  if (options.on_request) {
    session_options.on_request = [weak = weak_from_this()](rpc::Request request,
                                                           mcp::client::AnswerServer answer) {
      if (auto self = weak.lock()) self->options.on_request(std::move(request), std::move(answer));
    };
  }
  auto which = std::make_shared<std::weak_ptr<mcp::client::ClientSession>>();
  session_options.on_renewed = [weak = weak_from_this(), which] {
    auto self = weak.lock();
    auto renewed = which->lock();
    if (self && renewed) self->restore(renewed);
  };
  auto made = mcp::client::ClientSession::create(tools, scope, options.endpoint,
                                                 std::move(session_options));
  *which = made;
  return made;
}

void GatewayLink::Shared::restore(const SessionPtr& there) {
  for (const auto& setting : state.settings()) {
    mcp::client::SessionRequest request;
    request.method = setting.method;
    request.params = rpc::to_json_text(setting.params);
    request.deadline = tools.clock.steady_now() + options.connect_timeout;
    scope.spawn(set_again(there, std::move(request)));
  }
}

task::Task<core::Result<SessionPtr>> GatewayLink::Shared::session_until(Steady deadline) {
  if (is_closed) co_return stopping();
  if (is_ready && !session->is_lost()) co_return session;
  if (!session && failure && deadline <= next_attempt) co_return *failure;
  want();
  co_return co_await connected.wait();
}

void GatewayLink::Shared::want() {
  is_wanted = true;
  wanted.open(true);
  if (!std::exchange(is_alive, true)) life = scope.spawn(live(shared_from_this()));
}

task::Task<void> GatewayLink::Shared::live(std::shared_ptr<Shared> self) {
  Shared& its = *self;
  for (;;) {
    if (!its.is_wanted) co_await its.wanted.wait();
    const auto now = its.tools.clock.steady_now();
    if (now < its.next_attempt) co_await task::sleep_for(its.tools.timer, its.next_attempt - now);
    if (!co_await its.connect()) continue;
    const auto connected_at = its.tools.clock.steady_now();
    if (!its.loss) co_await its.lost.wait();
    const Error why = its.scrubbed(*its.loss);
    if (its.tools.clock.steady_now() - connected_at >= its.options.longest_delay)
      its.delay = its.options.first_delay;
    its.denial = {};
    its.delay_next_attempt({why.code, "the backend was lost: " + why.message, {}});
    its.say(its.failure->message);
  }
}

task::Task<bool> GatewayLink::Shared::connect() {
  loss = std::nullopt;
  session = make_session();
  const auto candidate = session;  // keeps it while it connects
  const auto result =
      co_await candidate->connect(tools.clock.steady_now() + options.connect_timeout);
  is_wanted = false;
  if (!result) {
    denial = candidate->denial();
    delay_next_attempt(scrubbed(result.error()));
    say("no backend: " + failure->message);
    connected.open(*failure);
    co_return false;
  }
  is_ready = true;
  say("backend \"" + result->server_name + "\" speaks MCP " + result->revision);
  restore(candidate);
  connected.open(candidate);
  co_return true;
}

void GatewayLink::Shared::delay_next_attempt(Error why) {
  session = nullptr;
  is_ready = false;
  failure = std::move(why);
  next_attempt = tools.clock.steady_now() + delay;
  delay = std::min(delay * 2, options.longest_delay);
}

void GatewayLink::Shared::stop() {
  is_closed = true;
  life.cancel();
  if (session) session->close();
  connected.open(stopping());
}

/// The error as clients may see it, without the backend's command line.
Error GatewayLink::Shared::scrubbed(const Error& error) const {
  std::string text = error.message;
  if (options.endpoint.scheme == "stdio") {
    const std::string& command = options.endpoint.path;
    text = core::replaced(std::move(text), options.endpoint.url(), "the backend");
    text = core::replaced(std::move(text), "the command \"" + command + "\"", "its command");
    text = core::replaced(std::move(text), command, "the command");
  }
  return {error.code, options.scrub ? options.scrub(std::move(text)) : std::move(text), {}};
}

}  // namespace league::tools::gateway
