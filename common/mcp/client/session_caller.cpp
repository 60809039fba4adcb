#include "common/mcp/client/session_caller.h"

#include <algorithm>
#include <future>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using transport::link::CallOutcome;
using transport::link::OutboundCall;

CallOutcome failed_call(Error why) {
  CallOutcome outcome;
  outcome.error = std::move(why);
  return outcome;
}

Error stopping() { return {ErrorCode::kShuttingDown, "the program is being stopped", ""}; }

/// Method and parameters of a framed request.
core::Result<SessionRequest> take_apart(const OutboundCall& call) {
  auto document = schema::parse_json(call.bytes, schema::kMcpLimits);
  if (!document) return document.error();
  auto frames = rpc::decode(std::move(*document)).frames;
  auto* message = std::get_if<rpc::Message>(&frames.front());
  auto* request = message == nullptr ? nullptr : std::get_if<rpc::Request>(message);
  if (request == nullptr)
    return Error{ErrorCode::kMalformedMessage, "only requests can be called", ""};
  SessionRequest out;
  out.method = std::move(request->method);
  if (!request->params.is_null()) out.params = rpc::to_json_text(request->params);
  out.deadline = call.deadline;
  out.is_repeatable = call.is_repeatable;
  return out;
}

CallOutcome outcome_of(SessionAnswer answer, const rpc::Id& id) {
  CallOutcome outcome;
  outcome.error = std::move(answer.error);
  outcome.http_status = answer.http_status;
  outcome.context = std::move(answer.context);
  outcome.sent_at = answer.sent_at;
  outcome.wire_request = std::move(answer.wire_request);
  outcome.wire_answer = std::move(answer.wire_response);
  if (!outcome.error) {
    answer.response.id = id;
    outcome.bytes = rpc::encode(rpc::Message(std::move(answer.response)));
  }
  return outcome;
}

}  // namespace

/// The URLs of the servers that refused us. Thread-safe.
class SessionCaller::RefusedServers {
 public:
  void set(const std::string& url, bool is_refused) {
    std::lock_guard lock(mutex_);
    is_refused ? void(urls_.insert(url)) : void(urls_.erase(url));
  }
  [[nodiscard]] bool contains(const std::string& url) const {
    std::lock_guard lock(mutex_);
    return urls_.contains(url);
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> urls_;
};

/// A server, while it has a session or calls, or has refused us.
struct SessionCaller::Peer {
  SessionPtr session;  ///< null: none yet
  std::shared_future<void> departure;  ///< the end of a child process
  bool is_negotiating = false;
  task::Signal<core::Result<SessionPtr>> negotiated;
  std::size_t calls = 0;
  bool is_old = false;  ///< the last session used a handshake, so the next one begins with it
  Error refusal{};
  Steady refused_until{};
  Steady used{};
};

/// Counts a call of a peer.
class SessionCaller::PeerUse {
 public:
  explicit PeerUse(PeerPtr peer) : peer_(std::move(peer)) { ++peer_->calls; }
  ~PeerUse() { --peer_->calls; }
  PeerUse(const PeerUse&) = delete;
  PeerUse& operator=(const PeerUse&) = delete;

 private:
  const PeerPtr peer_;
};

SessionCaller::SessionCaller(const SessionTools& tools, SessionCallerOptions options)
    : tools_(tools), options_(std::move(options)), refused_(std::make_shared<RefusedServers>()) {}

void SessionCaller::call(OutboundCall call, Completion completion) {
  scope_.spawn(serve(std::move(call), std::move(completion)));
}

std::function<bool(const transport::link::Endpoint&)> SessionCaller::refusals() const {
  return [refused = refused_](const transport::link::Endpoint& endpoint) {
    return refused->contains(endpoint.url());
  };
}

task::Task<void> SessionCaller::serve(OutboundCall call, Completion completion) {
  const auto started = tools_.clock.steady_now();
  CallOutcome outcome;
  try {
    outcome = co_await converse(&call);
  } catch (const std::exception& fault) {
    outcome = failed_call(task::is_cancellation(fault)
                              ? stopping()
                              : Error{ErrorCode::kInternalError, fault.what(), ""});
  }
  outcome.elapsed = tools_.clock.steady_now() - started;
  completion(std::move(outcome));
}

task::Task<CallOutcome> SessionCaller::converse(const OutboundCall* call) {
  if (is_closed_) co_return failed_call(stopping());
  const auto peer = peer_at(call->endpoint.url());
  const PeerUse use(peer);
  const auto session = co_await session_with(peer, call);
  if (!session) co_return failed_call(session.error());
  auto request = take_apart(*call);
  if (!request) co_return failed_call(request.error());
  auto answer = co_await (*session)->ask(std::move(*request));
  co_return outcome_of(std::move(answer), call->id);
}

auto SessionCaller::session_with(PeerPtr peer, const OutboundCall* call)
    -> task::Task<core::Result<SessionPtr>> {
  const auto now = tools_.clock.steady_now();
  if (now < peer->refused_until) co_return peer->refusal;
  const bool is_there = peer->session && !peer->is_negotiating && !peer->session->is_lost();
  if (is_there) co_return peer->session;
  const bool is_child = call->endpoint.scheme == "stdio";
  const Steady half = now + (call->deadline - now) / 2;
  const Steady deadline = is_child ? std::max(half, now + options_.start_up) : half;
  if (!std::exchange(peer->is_negotiating, true)) {
    make_session(*peer, call->endpoint);
    scope_.spawn(negotiate(peer, call->endpoint.url(), deadline));
  }
  co_return co_await task::called_back<core::Result<SessionPtr>>([&](auto go_on) {
    peer->negotiated.enter(go_on);
    if (!is_child || call->deadline >= deadline) return;
    tools_.timer.schedule(call->deadline - now, [go_on] {
      go_on(Error{ErrorCode::kTimeout,
                  "the command did not start within the time limit of the call", ""});
    });
  });
}

void SessionCaller::make_session(Peer& peer, const transport::link::Endpoint& endpoint) {
  refused_->set(endpoint.url(), false);
  SessionOptions options;
  options.client = options_.client;
  options.longest_probe = options_.longest_probe;
  options.skips_discovery = peer.is_old;
  auto departed = std::make_shared<std::promise<void>>();
  if (endpoint.scheme == "stdio") peer.departure = departed->get_future();
  options.on_disconnected = [departed] { departed->set_value(); };
  peer.session = ClientSession::create(tools_, scope_, endpoint, std::move(options));
}

task::Task<void> SessionCaller::negotiate(PeerPtr peer, std::string url, Steady deadline) {
  const auto session = peer->session;
  const auto result = co_await session->connect(deadline);
  peer->is_negotiating = false;
  if (result) {
    peer->is_old = !result->is_modern;
    co_return peer->negotiated.open(session);
  }
  const auto code = result.error().code;
  const bool is_unreachable = code == ErrorCode::kConnectionError ||
                              code == ErrorCode::kShuttingDown ||
                              code == ErrorCode::kEndpointNotAllowed;
  peer->session = nullptr;
  const auto found = peers_.find(url);
  const bool is_known = found != peers_.end() && found->second == peer;
  if (is_known && is_unreachable) {
    peers_.erase(found);  // It is tried again at the next call.
  } else if (is_known) {
    peer->refusal = result.error();
    peer->refused_until = tools_.clock.steady_now() + options_.refusal_memory;
    refused_->set(url, true);
  }
  peer->negotiated.open(result.error());
}

SessionCaller::PeerPtr SessionCaller::peer_at(const std::string& url) {
  if (!peers_.contains(url)) make_room();
  auto& peer = peers_[url];
  if (!peer) peer = std::make_shared<Peer>();
  peer->used = tools_.clock.steady_now();
  return peer;
}

void SessionCaller::make_room() {
  while (peers_.size() >= options_.max_sessions) {
    auto oldest = peers_.end();
    for (auto it = peers_.begin(); it != peers_.end(); ++it) {
      if (it->second->calls > 0) continue;
      if (oldest == peers_.end() || it->second->used < oldest->second->used) oldest = it;
    }
    if (oldest == peers_.end()) return;
    if (oldest->second->session) oldest->second->session->close();
    refused_->set(oldest->first, false);
    peers_.erase(oldest);
  }
}

/// Runs `function` on the executor, and waits for its value.
template <typename T>
T SessionCaller::wait(std::function<T()> function) const {
  auto promise = std::make_shared<std::promise<T>>();
  auto value = promise->get_future();
  scope_.executor().post(
      [function = std::move(function), promise] { promise->set_value(function()); });
  return value.get();
}

std::size_t SessionCaller::sessions() const {
  return wait<std::size_t>([this] {
    return std::ranges::count_if(peers_, [](const auto& peer) {
      return peer.second->session && !peer.second->session->is_lost();
    });
  });
}

SessionCaller::~SessionCaller() {
  auto departures = wait<std::vector<std::shared_future<void>>>([this] {
    is_closed_ = true;
    std::vector<std::shared_future<void>> children;
    for (auto& [url, peer] : std::exchange(peers_, {})) {
      if (!peer->session) continue;
      if (peer->departure.valid() && peer->session->is_ready()) children.push_back(peer->departure);
      peer->session->close();
    }
    return children;
  });
  // The event loop kills children that still run when it stops, but a child may still have much to
  // write.
  const auto deadline = std::chrono::steady_clock::now() + options_.farewell;
  for (auto& child : departures) child.wait_until(deadline);
}

}  // namespace league::mcp::client
