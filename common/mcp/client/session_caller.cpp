#include "common/mcp/client/session_caller.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "common/rpc/codec.h"
#include "common/rpc/json_text.h"
#include "common/schema/parse_json.h"

namespace league::mcp::client {
namespace {

using core::Error;
using core::ErrorCode;
using Steady = core::Clock::Steady;

/// A call that waits for its session.
struct SessionCall {
  transport::link::OutboundCall call;
  transport::link::Caller::Completion completion;
  Steady started;
  std::uint64_t ticket = 0;  ///< identifies the call while it waits
};

void fail(const SessionCall& call, Error error, Steady now) {
  transport::link::CallOutcome outcome;
  outcome.error = std::move(error);
  outcome.elapsed = now - call.started;
  call.completion(std::move(outcome));
}

/// Waits for the end of a connection. Thread-safe.
class ConnectionEnd {
 public:
  void happen() {
    {
      std::lock_guard lock(mutex_);
      has_happened_ = true;
    }
    changed_.notify_all();
  }
  void wait_until(Steady deadline) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [this] { return has_happened_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_happened_ = false;
};

/// Method and parameters of a framed request.
core::Result<SessionRequest> take_apart(const transport::link::OutboundCall& call) {
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

transport::link::CallOutcome outcome_of(SessionAnswer answer, const rpc::Id& id) {
  transport::link::CallOutcome outcome;
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

/// Shared with the completions, which may run after the caller is gone.
class SessionCaller::State : public std::enable_shared_from_this<State> {
 public:
  State(const SessionTools& tools, SessionCallerOptions options)
      : tools_(tools), options_(std::move(options)) {}

  void call(SessionCall call);
  [[nodiscard]] bool is_refused(const std::string& url) const;
  [[nodiscard]] std::size_t sessions() const;
  void close();

 private:
  enum class Phase { kNegotiating, kReady, kRefused };
  struct Peer {
    Phase phase = Phase::kNegotiating;
    std::shared_ptr<ClientSession> session;
    std::shared_ptr<ConnectionEnd> departure;  ///< of a child process; null for other transports
    std::vector<SessionCall> waiting;
    std::size_t running = 0;  ///< requests that the session has not answered yet
    bool is_old = false;  ///< the last session used a handshake, so the next one begins with it
    Error refusal{};
    Steady refused_until{};
    Steady used{};
  };

  void begin_session(const std::string& url, Steady deadline,
                     const std::shared_ptr<ClientSession>& session);
  void on_connected(const std::string& url, const ClientSession* session,
                    core::Result<Negotiated> result);
  void on_lost(const std::string& url, const ClientSession* session);
  [[nodiscard]] Steady negotiation_deadline(Steady now, Steady call_deadline, bool is_child) const;
  void fail_in_time(const std::string& url, std::uint64_t ticket, Steady deadline);
  void forward(const std::shared_ptr<ClientSession>& session, SessionCall call);
  std::shared_ptr<ClientSession> make_session(const transport::link::Endpoint& endpoint,
                                              const std::string& url, const Peer& peer);
  std::vector<std::shared_ptr<ClientSession>> make_room();  // with the lock

  const SessionTools tools_;
  const SessionCallerOptions options_;
  mutable std::mutex mutex_;  // never held while other objects are called
  bool closed_ = false;
  std::uint64_t last_ticket_ = 0;
  std::unordered_map<std::string, Peer> peers_;
};

void SessionCaller::State::call(SessionCall call) {
  const std::string url = call.call.endpoint.url();
  const auto now = tools_.clock.steady_now();
  call.started = now;
  std::optional<Error> refusal;
  std::shared_ptr<ClientSession> ready;
  std::shared_ptr<ClientSession> fresh;
  std::vector<std::shared_ptr<ClientSession>> evicted;
  const transport::link::Endpoint endpoint = call.call.endpoint;
  const bool is_child = endpoint.scheme == "stdio";
  const Steady call_deadline = call.call.deadline;
  const Steady deadline = negotiation_deadline(now, call_deadline, is_child);
  std::uint64_t ticket = 0;  // of the call, if it waits
  {
    std::lock_guard lock(mutex_);
    if (closed_) {
      refusal = Error{ErrorCode::kShuttingDown, "the program is being stopped", ""};
    } else {
      if (!peers_.contains(url)) evicted = make_room();
      Peer& peer = peers_[url];
      peer.used = now;
      bool is_refused = peer.phase == Phase::kRefused && now < peer.refused_until;
      if (is_refused) {
        refusal = peer.refusal;
      } else if (peer.phase == Phase::kReady && !peer.session->is_lost()) {
        ready = peer.session;
      } else {
        if (!peer.session || peer.phase != Phase::kNegotiating) {
          peer.phase = Phase::kNegotiating;
          peer.departure = is_child ? std::make_shared<ConnectionEnd>() : nullptr;
          peer.session = fresh = make_session(endpoint, url, peer);
        }
        call.ticket = ticket = ++last_ticket_;
        peer.waiting.push_back(std::move(call));
      }
    }
  }
  for (const auto& session : evicted) session->close();
  // If either is set, the call was not moved into the waiting list.
  if (refusal) return fail(call, std::move(*refusal), now);  // NOLINT(bugprone-use-after-move)
  if (ready) return forward(ready, std::move(call));  // NOLINT(bugprone-use-after-move)
  if (is_child && call_deadline < deadline) fail_in_time(url, ticket, call_deadline);
  if (fresh) begin_session(url, deadline, fresh);
}

Steady SessionCaller::State::negotiation_deadline(Steady now, Steady call_deadline,
                                                  bool is_child) const {
  const Steady half = now + (call_deadline - now) / 2;
  return is_child ? std::max(half, now + options_.start_up) : half;
}

void SessionCaller::State::fail_in_time(const std::string& url, std::uint64_t ticket,
                                        Steady deadline) {
  tools_.timer.schedule(deadline - tools_.clock.steady_now(), [weak = weak_from_this(), url,
                                                               ticket] {
    auto self = weak.lock();
    if (!self) return;
    std::optional<SessionCall> late;
    {
      std::lock_guard lock(self->mutex_);
      auto found = self->peers_.find(url);
      if (found == self->peers_.end()) return;
      auto& waiting = found->second.waiting;
      auto it = std::ranges::find(waiting, ticket, &SessionCall::ticket);
      if (it == waiting.end()) return;
      late = std::move(*it);
      waiting.erase(it);
    }
    fail(*late,
         {ErrorCode::kTimeout, "the command did not start within the time limit of the call", ""},
         self->tools_.clock.steady_now());
  });
}

std::shared_ptr<ClientSession> SessionCaller::State::make_session(
    const transport::link::Endpoint& endpoint, const std::string& url, const Peer& peer) {
  SessionOptions options;
  options.client = options_.client;
  options.longest_probe = options_.longest_probe;
  options.skips_discovery = peer.is_old;
  if (peer.departure)
    options.on_disconnected = [departure = peer.departure] { departure->happen(); };
  auto which = std::make_shared<const ClientSession*>(nullptr);
  options.on_closed = [weak = weak_from_this(), url, which](const Error& /*why*/) {
    if (auto self = weak.lock()) self->on_lost(url, *which);
  };
  auto session = ClientSession::create(tools_, endpoint, std::move(options));
  *which = session.get();
  return session;
}

void SessionCaller::State::begin_session(const std::string& url, Steady deadline,
                                         const std::shared_ptr<ClientSession>& session) {
  session->connect(deadline, [self = shared_from_this(), url,
                              which = session.get()](core::Result<Negotiated> result) {
    self->on_connected(url, which, std::move(result));
  });
}

void SessionCaller::State::on_connected(const std::string& url, const ClientSession* session,
                                        core::Result<Negotiated> result) {
  std::vector<SessionCall> waiting;
  std::shared_ptr<ClientSession> ready;
  const auto now = tools_.clock.steady_now();
  {
    std::lock_guard lock(mutex_);
    auto found = peers_.find(url);
    if (found == peers_.end() || found->second.session.get() != session) return;
    Peer& peer = found->second;
    waiting.swap(peer.waiting);
    if (result) {
      peer.phase = Phase::kReady;
      peer.is_old = !result->is_modern;
      ready = peer.session;
    } else {
      auto code = result.error().code;
      bool is_unreachable = code == ErrorCode::kConnectionError ||
                            code == ErrorCode::kShuttingDown ||
                            code == ErrorCode::kEndpointNotAllowed;
      // An unreachable server is tried again at the next call.
      peer.phase = is_unreachable ? Phase::kNegotiating : Phase::kRefused;
      peer.refusal = result.error();
      peer.refused_until = now + options_.refusal_memory;
      peer.session = nullptr;
      if (is_unreachable) peers_.erase(found);
    }
  }
  for (auto& call : waiting) {
    if (ready) {
      forward(ready, std::move(call));
    } else {
      fail(call, result.error(), now);
    }
  }
}

void SessionCaller::State::on_lost(const std::string& url, const ClientSession* session) {
  std::shared_ptr<ClientSession> lost;
  std::lock_guard lock(mutex_);
  auto found = peers_.find(url);
  if (found == peers_.end() || found->second.session.get() != session) return;
  if (found->second.phase != Phase::kReady) return;
  // `is_old` is kept; the next call makes a new session.
  lost = std::move(found->second.session);
  found->second.session = nullptr;
  found->second.phase = Phase::kNegotiating;
}

void SessionCaller::State::forward(const std::shared_ptr<ClientSession>& session,
                                   SessionCall call) {
  auto request = take_apart(call.call);
  if (!request) return fail(call, request.error(), tools_.clock.steady_now());
  const std::string url = call.call.endpoint.url();
  {
    std::lock_guard lock(mutex_);
    if (auto peer = peers_.find(url); peer != peers_.end()) ++peer->second.running;
  }
  session->request(std::move(*request),
                   [self = shared_from_this(), url, id = call.call.id, started = call.started,
                    completion = std::move(call.completion)](SessionAnswer answer) {
                     {
                       std::lock_guard lock(self->mutex_);
                       if (auto peer = self->peers_.find(url);
                           peer != self->peers_.end() && peer->second.running > 0)
                         --peer->second.running;
                     }
                     auto outcome = outcome_of(std::move(answer), id);
                     outcome.elapsed = self->tools_.clock.steady_now() - started;
                     completion(std::move(outcome));
                   });
}

std::vector<std::shared_ptr<ClientSession>> SessionCaller::State::make_room() {
  std::vector<std::shared_ptr<ClientSession>> evicted;
  while (peers_.size() >= options_.max_sessions) {
    auto oldest = peers_.end();
    for (auto it = peers_.begin(); it != peers_.end(); ++it) {
      if (!it->second.waiting.empty() || it->second.running > 0) continue;
      if (oldest == peers_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest == peers_.end()) break;
    if (oldest->second.session) evicted.push_back(std::move(oldest->second.session));
    peers_.erase(oldest);
  }
  return evicted;
}

bool SessionCaller::State::is_refused(const std::string& url) const {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(url);
  return found != peers_.end() && found->second.phase == Phase::kRefused;
}

std::size_t SessionCaller::State::sessions() const {
  std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (const auto& [url, peer] : peers_) count += peer.session ? 1 : 0;
  return count;
}

void SessionCaller::State::close() {
  std::unordered_map<std::string, Peer> peers;
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
    peers.swap(peers_);
  }
  const Error why{ErrorCode::kShuttingDown, "the program is being stopped", ""};
  for (auto& [url, peer] : peers) {
    if (peer.session) peer.session->close();
    for (const auto& call : peer.waiting) fail(call, why, tools_.clock.steady_now());
  }
  // The event loop kills children that still run when it stops, but a child may still have much to
  // write.
  const auto deadline = std::chrono::steady_clock::now() + options_.farewell;
  for (auto& [url, peer] : peers) {
    bool has_child = peer.session && peer.departure && peer.phase == Phase::kReady;
    if (has_child) peer.departure->wait_until(deadline);
  }
}

SessionCaller::SessionCaller(const SessionTools& tools, SessionCallerOptions options)
    : state_(std::make_shared<State>(tools, std::move(options))) {}

SessionCaller::~SessionCaller() { state_->close(); }

void SessionCaller::call(transport::link::OutboundCall call, Completion completion) {
  state_->call({.call = std::move(call), .completion = std::move(completion), .started = {}});
}

std::function<bool(const transport::link::Endpoint&)> SessionCaller::refusals() const {
  return [state = state_](const transport::link::Endpoint& endpoint) {
    return state->is_refused(endpoint.url());
  };
}

std::size_t SessionCaller::sessions() const { return state_->sessions(); }

}  // namespace league::mcp::client
