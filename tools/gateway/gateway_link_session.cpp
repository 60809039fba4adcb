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
  session_options.on_closed = [weak = weak_from_this()](const Error& why) {
    if (auto self = weak.lock()) self->on_lost(why);
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
  auto made =
      mcp::client::ClientSession::create(tools, options.endpoint, std::move(session_options));
  *which = made;
  return made;
}

void GatewayLink::Shared::restore(const SessionPtr& there) {
  std::vector<GatewaySessionState::Setting> settings;
  {
    std::lock_guard lock(mutex);
    settings = state.settings();
  }
  for (const auto& setting : settings) {
    there->request({.method = setting.method,
                    .params = rpc::to_json_text(setting.params),
                    .deadline = tools.clock.steady_now() + options.connect_timeout},
                   [](const mcp::client::SessionAnswer& /*answer*/) {});
  }
}

void GatewayLink::Shared::note_setting(const GatewayCall& call, const GatewayAnswer& given) {
  if (!options.is_own || given.response.error) return;
  std::lock_guard lock(mutex);
  state.note(call.request);
}

void GatewayLink::Shared::with_session(Steady deadline, Ready ready) {
  SessionPtr there;
  SessionPtr fresh;
  std::optional<Error> refusal;
  std::optional<Steady::duration> pause;
  auto now = tools.clock.steady_now();
  {
    std::lock_guard lock(mutex);
    if (is_closed) {
      refusal = Error{ErrorCode::kShuttingDown, "the gateway is stopping", {}};
    } else if (session && is_ready && !session->is_lost()) {
      there = session;
    } else if (session && is_ready) {
      waiting.push_back(std::move(ready));  // on_lost will follow
    } else if (!session && failure && deadline <= next_attempt) {
      refusal = failure;
    } else {
      waiting.push_back(std::move(ready));
      if (!session && now < next_attempt) {
        if (!std::exchange(is_attempt_due, true)) pause = next_attempt - now;
      } else if (!session) {
        fresh = session = make_session();
      }
    }
  }
  // Where one of them is set, `ready` was not moved.
  if (refusal) return ready(*refusal);  // NOLINT(bugprone-use-after-move)
  if (there) return ready(there);  // NOLINT(bugprone-use-after-move)
  if (fresh) begin(fresh);
  if (pause) attempt_after(*pause);
}

void GatewayLink::Shared::attempt_after(Steady::duration pause) {
  tools.timer.schedule(pause, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->attempt();
  });
}

/// The delay after the loss of a backend is over: connects again for the waiting requests.
void GatewayLink::Shared::attempt() {
  SessionPtr fresh;
  std::vector<Ready> late;
  {
    std::lock_guard lock(mutex);
    is_attempt_due = false;
    if (is_closed) {
      late.swap(waiting);
    } else if (!session && !waiting.empty()) {
      fresh = session = make_session();
    }
  }
  for (auto& ready : late) ready(Error{ErrorCode::kShuttingDown, "the gateway is stopping", {}});
  if (fresh) begin(fresh);
}

void GatewayLink::Shared::begin(const SessionPtr& fresh) {
  fresh->connect(tools.clock.steady_now() + options.connect_timeout,
                 [self = shared_from_this(), fresh](core::Result<mcp::client::Negotiated> result) {
                   self->on_connected(fresh, std::move(result));
                 });
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

GatewayAnswer GatewayLink::Shared::failed(const rpc::Id& id, const Error& why) const {
  GatewayAnswer answer(gateway_failure(id, why.message));
  std::lock_guard lock(mutex);
  pass_on_refusal(denial.http_status, denial.headers.get(), answer);
  return answer;
}

void GatewayLink::Shared::on_connected(const SessionPtr& candidate,
                                       core::Result<mcp::client::Negotiated> result) {
  std::vector<Ready> told;
  std::optional<Error> why;
  if (!result) why = scrubbed(result.error());
  const auto denied = candidate->denial();
  {
    std::lock_guard lock(mutex);
    told.swap(waiting);
    auto now = tools.clock.steady_now();
    if (why) {
      session = nullptr;
      failure = why;
      denial = denied;
      next_attempt = now + delay;
      delay = std::min(delay * 2, options.longest_delay);
    } else {
      is_ready = true;
      connected_at = now;
    }
  }
  say(why ? "no backend: " + why->message
          : "backend \"" + result->server_name + "\" speaks MCP " + result->revision);
  if (!why) restore(candidate);
  for (auto& ready : told) why ? ready(*why) : ready(candidate);
}

void GatewayLink::Shared::on_lost(const Error& why) {
  Error clean = scrubbed(why);
  std::optional<Steady::duration> pause;
  SessionPtr lost;
  {
    std::lock_guard lock(mutex);
    if (is_closed || !is_ready) return;
    auto now = tools.clock.steady_now();
    if (now - connected_at >= options.longest_delay) delay = options.first_delay;
    lost = std::move(session);
    session = nullptr;
    is_ready = false;
    failure = Error{clean.code, "the backend was lost: " + clean.message, {}};
    denial = {};
    next_attempt = now + delay;
    delay = std::min(delay * 2, options.longest_delay);
    if (!waiting.empty() && !std::exchange(is_attempt_due, true)) pause = next_attempt - now;
  }
  say("the backend was lost: " + clean.message);
  if (pause) attempt_after(*pause);
}

}  // namespace league::tools::gateway
