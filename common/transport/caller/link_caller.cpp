#include "common/transport/caller/link_caller.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <future>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/task/task.h"
#include "common/transport/caller/connection_client.h"

namespace league::transport::caller {
namespace {

using core::Error;
using core::ErrorCode;
using task::Task;
using Steady = core::Clock::Steady;

/// One connection.
struct Link {
  std::shared_ptr<ConnectionClient> client;
  std::unordered_set<rpc::Id> ids;  ///< pending on it
  Steady last_used{};
  std::optional<Error> lost = std::nullopt;  ///< why it takes no more calls
  std::function<void(bool)> wake = nullptr;  ///< its task

  void end(const Error& why) {
    if (!lost) lost = why;
    if (wake) wake(true);
  }
};
using LinkPointer = std::shared_ptr<Link>;

/// A call that waits for its turn at a peer; settled by a connection or by a refusal.
struct Waiting {
  const link::OutboundCall& call;
  LinkPointer link = nullptr;
  std::optional<Error> refusal = std::nullopt;
  std::function<void(bool)> wake = nullptr;  ///< its task, if that waits already

  [[nodiscard]] bool is_settled() const { return link || refusal; }
  void settle(LinkPointer its_link, std::optional<Error> its_refusal) {
    link = std::move(its_link);
    refusal = std::move(its_refusal);
    if (wake) wake(true);
  }
};

struct Peer {
  link::Endpoint endpoint;
  std::vector<LinkPointer> links;
  bool is_connecting = false;
  std::array<std::deque<Waiting*>, 3> queues;  ///< by budget
  std::array<std::size_t, 3> in_flight{};
  std::size_t users = 0;  ///< tasks that use it
};
using Peers = std::unordered_map<std::string, Peer>;

/// Keeps a peer; the last one forgets it.
class PeerUse {
 public:
  PeerUse(Peers& peers, std::string key)
      : peers_(peers), entry_(*peers.try_emplace(std::move(key)).first) {
    ++peer().users;
  }
  ~PeerUse() {
    if (--peer().users == 0) peers_.erase(peers_.find(entry_.first));
  }
  PeerUse(const PeerUse&) = delete;
  PeerUse& operator=(const PeerUse&) = delete;

  [[nodiscard]] Peer& peer() const { return entry_.second; }

 private:
  Peers& peers_;
  Peers::value_type& entry_;
};

std::string key_of(const link::Endpoint& endpoint) {
  return endpoint.pinned_address.empty() ? endpoint.url()
                                         : endpoint.url() + "@" + endpoint.pinned_address;
}

std::size_t queue_of(const link::OutboundCall& call) {
  return static_cast<std::size_t>(call.budget);
}

/// A child process may keep state in memory.
bool is_command(const Peer& peer) { return peer.endpoint.scheme == "stdio"; }

Error stopping() { return {ErrorCode::kShuttingDown, "this program is stopping", {}}; }

link::OutboundMessage message_of(const link::OutboundCall& call) {
  link::OutboundMessage message{call};
  message.deadline = call.deadline;
  message.is_repeatable = call.is_repeatable;
  const auto& notes = call.notes;
  if (call.endpoint.scheme == "nats" && notes && !notes->conversation_id.empty())
    message.headers = {{"Trace-Id", notes->conversation_id}};
  return message;
}

}  // namespace

/// The calls, and the connections. All of it runs on its executor, except what says otherwise.
class LinkCaller::Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(link::Connector& connector, const core::Clock& clock, core::Timer& timer,
       const LinkCallerOptions& options)
      : connector_(connector), clock_(clock), timer_(timer), options_(options) {}

  /// On any thread.
  void call(link::OutboundCall call, Completion completion);
  /// From outside the executor, once.
  void close();
  /// On any thread: connections that are open or being opened.
  [[nodiscard]] std::size_t connections() const { return link_count_; }

 private:
  /// A call, from its beginning to its completion.
  Task<void> carry_out(link::OutboundCall call, Completion completion, Steady begun);
  Task<link::CallOutcome> converse(const link::OutboundCall* call);
  Task<void> come_to_turn(Peer* peer, Waiting* waiting);
  /// A connection, from its opening to its end; `deadline` is that of its opening.
  Task<void> keep_link(std::unique_ptr<PeerUse> use, Steady deadline);
  Task<void> watch(Link* link, bool may_be_idle);

  void pump(Peer& peer);
  [[nodiscard]] bool place(Peer& peer, Waiting& waiting);
  [[nodiscard]] bool make_room();
  void drop(Peer& peer, const LinkPointer& link);
  void refuse_waiting(Peer& peer, const Error& why);
  void stop();
  /// Tells close() what has ended.
  void note_ended();
  [[nodiscard]] bool is_idle(const Link& link) const {
    return link.ids.empty() && link.last_used + options_.connection_idle <= clock_.steady_now();
  }
  [[nodiscard]] link::CallOutcome failed(const link::OutboundCall& call, const Error& why) const;

  link::Connector& connector_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const LinkCallerOptions options_;
  const task::Executor executor_;
  Peers peers_;
  std::atomic<std::size_t> link_count_ = 0;  ///< with those that are being opened
  std::size_t calls_ = 0;  ///< not completed
  bool is_stopping_ = false;
  std::optional<std::promise<void>> calls_ended_{std::in_place};  ///< none once it is told
  std::optional<std::promise<void>> links_ended_{std::in_place};
  std::optional<task::Scope> tasks_{std::in_place, executor_,
                                    [](const std::exception_ptr&) { std::terminate(); }};
};

link::CallOutcome LinkCaller::Pool::failed(const link::OutboundCall& call, const Error& why) const {
  link::CallOutcome outcome;
  outcome.error = Error{why.code, "call of " + call.endpoint.url() + " failed: " + why.message, {}};
  outcome.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kServerToClient);
  return outcome;
}

void LinkCaller::Pool::call(link::OutboundCall call, Completion completion) {
  executor_.post([this, call = std::move(call), completion = std::move(completion),
                  begun = clock_.steady_now()]() mutable {
    if (is_stopping_) return completion(failed(call, stopping()));
    ++calls_;
    tasks_->spawn(carry_out(std::move(call), std::move(completion), begun));
  });
}

Task<void> LinkCaller::Pool::carry_out(link::OutboundCall call, Completion completion,
                                       Steady begun) {
  auto outcome = co_await converse(&call);
  outcome.elapsed = clock_.steady_now() - begun;
  completion(std::move(outcome));
  --calls_;
  note_ended();
}

Task<link::CallOutcome> LinkCaller::Pool::converse(const link::OutboundCall* call) {
  if (call->id.is_null())
    co_return failed(*call,
                     {ErrorCode::kInternalError, "a call over a connection needs an id", {}});
  const PeerUse use(peers_, key_of(call->endpoint));
  Peer& peer = use.peer();
  for (bool is_repeated = false;; is_repeated = true) {
    Waiting waiting{*call};
    co_await come_to_turn(&peer, &waiting);
    if (!waiting.link) co_return failed(*call, *waiting.refusal);
    Link& link = *waiting.link;
    link::CallOutcome outcome;
    if (is_stopping_ || link.lost) {
      outcome = failed(*call, is_stopping_ ? stopping() : *link.lost);
    } else {
      outcome = co_await link.client->request(call->id, message_of(*call));
    }
    link.ids.erase(call->id);
    link.last_used = clock_.steady_now();
    --peer.in_flight[queue_of(*call)];
    // The connection ended before any of the call was sent, so the call may use another connection,
    // once. This connection is no longer usable, even if it has not reported its end yet.
    const bool is_unsent =
        outcome.error && outcome.error->code == ErrorCode::kConnectionError && !outcome.sent_at;
    if (is_stopping_) co_return outcome;
    if (is_unsent) drop(peer, waiting.link);
    pump(peer);
    if (!is_unsent || is_repeated || call->deadline <= link.last_used) co_return outcome;
  }
}

Task<void> LinkCaller::Pool::come_to_turn(Peer* peer, Waiting* waiting) {
  auto& queue = peer->queues[queue_of(waiting->call)];
  if (is_stopping_) {
    waiting->refusal = stopping();
    co_return;
  }
  if (queue.size() >= options_.max_waiting) {
    waiting->refusal = {ErrorCode::kOverloaded, "too many calls wait for this peer", {}};
    co_return;
  }
  peer->endpoint = waiting->call.endpoint;
  queue.push_back(waiting);
  pump(*peer);
  if (waiting->is_settled()) co_return;
  const Steady until = waiting->call.deadline;
  task::ScheduledCall deadline(timer_);
  co_await task::called_back<bool>([&](auto wake) {
    waiting->wake = wake;
    if (until == Steady::max()) return;
    deadline.set(std::max(until - clock_.steady_now(), Steady::duration::zero()),
                 [wake] { wake(false); });
  });
  if (waiting->is_settled()) co_return;
  std::erase(queue, waiting);
  waiting->refusal = {ErrorCode::kTimeout, "the deadline came before a connection was free", {}};
}

void LinkCaller::Pool::pump(Peer& peer) {
  for (std::size_t budget = 0; budget < peer.queues.size(); ++budget) {
    auto& queue = peer.queues[budget];
    for (auto next = queue.begin();
         next != queue.end() && peer.in_flight[budget] < options_.max_per_endpoint;) {
      if (place(peer, **next)) {
        next = queue.erase(next);
      } else {
        ++next;  // its id is pending on every connection; other calls may go first
        if (peer.is_connecting && peer.links.empty()) break;
      }
    }
  }
}

/// Gives the call to a connection, or refuses it. False if it has to wait.
bool LinkCaller::Pool::place(Peer& peer, Waiting& waiting) {
  for (const auto& link : peer.links) {
    if (link->lost || !link->ids.insert(waiting.call.id).second) continue;
    ++peer.in_flight[queue_of(waiting.call)];
    waiting.settle(link, std::nullopt);
    return true;
  }
  const auto most = is_command(peer) ? std::size_t{1} : options_.max_connections_per_endpoint;
  if (peer.is_connecting || peer.links.size() >= most) return false;
  if (!make_room()) {
    waiting.settle(nullptr,
                   Error{ErrorCode::kOverloaded, "this program has too many connections", {}});
    return true;
  }
  peer.is_connecting = true;
  ++link_count_;
  // From now on: the task may begin after the call's time.
  auto use = std::make_unique<PeerUse>(peers_, key_of(waiting.call.endpoint));
  tasks_->spawn(keep_link(std::move(use), waiting.call.deadline));
  return false;
}

bool LinkCaller::Pool::make_room() {
  if (link_count_ < options_.max_connections) return true;
  Peer* owner = nullptr;
  LinkPointer oldest;
  for (auto& [key, peer] : peers_) {
    for (const auto& link : peer.links) {
      if (!link->ids.empty() || (oldest && oldest->last_used <= link->last_used)) continue;
      owner = &peer;
      oldest = link;
    }
  }
  if (!oldest) return false;
  drop(*owner, oldest);
  return true;
}

/// Closes the connection and uses it no longer, whether it has ended or not.
void LinkCaller::Pool::drop(Peer& peer, const LinkPointer& link) {
  if (std::erase(peer.links, link) == 0) return;
  --link_count_;
  link->client->close();
  link->end({ErrorCode::kConnectionError, "the connection is closed", {}});
}

Task<void> LinkCaller::Pool::keep_link(std::unique_ptr<PeerUse> use, Steady deadline) {
  using Connection = std::shared_ptr<link::MessageConnection>;
  Peer& peer = use->peer();
  auto opened = co_await task::called_back<core::Result<Connection>>(
      [&](auto go_on) { connector_.connect(peer.endpoint, deadline, std::move(go_on)); });
  peer.is_connecting = false;
  if (!opened || is_stopping_) {
    --link_count_;
    if (!opened) refuse_waiting(peer, opened.error());
    co_return;
  }
  const auto link = std::make_shared<Link>();
  ConnectionClientOptions options;
  options.peer = peer.endpoint.url();
  options.on_closed = [its = link.get()](const Error& why) { its->end(why); };
  link->client =
      ConnectionClient::start(*std::move(opened), executor_, clock_, timer_, std::move(options));
  link->last_used = clock_.steady_now();
  peer.links.push_back(link);
  pump(peer);
  co_await watch(link.get(), !is_command(peer));
  drop(peer, link);
  is_stopping_ ? note_ended() : pump(peer);
}

/// Waits for the end of a connection, or until it was idle for too long.
Task<void> LinkCaller::Pool::watch(Link* link, bool may_be_idle) {
  while (!link->lost && !(may_be_idle && is_idle(*link))) {
    task::ScheduledCall idle(timer_);
    co_await task::called_back<bool>([&](auto wake) {
      link->wake = wake;
      const auto now = clock_.steady_now();
      const auto since = link->ids.empty() ? link->last_used : now;
      if (may_be_idle) idle.set(since + options_.connection_idle - now, [wake] { wake(true); });
    });
  }
}

/// A connection could not be opened. If only the deadline of another call has passed, the waiting
/// calls do not fail.
void LinkCaller::Pool::refuse_waiting(Peer& peer, const Error& why) {
  const auto now = clock_.steady_now();
  for (auto& queue : peer.queues) {
    std::erase_if(queue, [&](Waiting* waiting) {
      if (why.code == ErrorCode::kTimeout && waiting->call.deadline > now) return false;
      waiting->settle(nullptr, why);
      return true;
    });
  }
  if (!is_stopping_) pump(peer);
}

void LinkCaller::Pool::stop() {
  is_stopping_ = true;
  for (auto& [key, peer] : peers_) {
    refuse_waiting(peer, stopping());
    for (const auto& link : peer.links) link->client->close();
  }
  note_ended();
}

void LinkCaller::Pool::note_ended() {
  if (!is_stopping_) return;
  const bool have_links_ended = std::all_of(
      peers_.begin(), peers_.end(), [](const auto& entry) { return entry.second.links.empty(); });
  if (calls_ == 0)
    if (auto told = std::exchange(calls_ended_, std::nullopt)) told->set_value();
  if (have_links_ended)
    if (auto told = std::exchange(links_ended_, std::nullopt)) told->set_value();
}

void LinkCaller::Pool::close() {
  const auto calls_ended = calls_ended_->get_future();
  const auto links_ended = links_ended_->get_future();
  executor_.post([self = shared_from_this()] { self->stop(); });
  links_ended.wait_for(options_.farewell);
  calls_ended.wait();
  tasks_.reset();
}

LinkCaller::LinkCaller(link::Connector& connector, const core::Clock& clock, core::Timer& timer,
                       const LinkCallerOptions& options)
    : pool_(std::make_shared<Pool>(connector, clock, timer, options)) {}

LinkCaller::~LinkCaller() { pool_->close(); }

void LinkCaller::call(link::OutboundCall call, Completion completion) {
  pool_->call(std::move(call), std::move(completion));
}

std::size_t LinkCaller::connections() const { return pool_->connections(); }

}  // namespace league::transport::caller
