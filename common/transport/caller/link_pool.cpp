#include "common/transport/caller/link_pool.h"

#include <algorithm>
#include <utility>

namespace league::transport::caller {
namespace {

std::string link_key(const link::Endpoint& endpoint) {
  return endpoint.pinned_address.empty() ? endpoint.url()
                                         : endpoint.url() + "@" + endpoint.pinned_address;
}

std::size_t queue_of(const link::OutboundCall& call) {
  return static_cast<std::size_t>(call.budget);
}

}  // namespace

bool LinkCaller::Pool::Peer::is_unused() const {
  return links.empty() && !is_connecting &&
         std::all_of(queues.begin(), queues.end(), [](const auto& q) { return q.empty(); }) &&
         std::all_of(in_flight.begin(), in_flight.end(), [](auto count) { return count == 0; });
}

void LinkCaller::Pool::run(Actions& actions) {
  for (auto& action : actions) action();
}

void LinkCaller::Pool::complete(const JobPointer& job, link::CallOutcome outcome) {
  outcome.elapsed = clock_.steady_now() - job->begun;
  {
    std::lock_guard lock(mutex_);
    ++running_;
  }
  if (auto completion = std::exchange(job->completion, nullptr)) completion(std::move(outcome));
  std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

void LinkCaller::Pool::fail(const JobPointer& job, core::ErrorCode code, const std::string& cause) {
  link::CallOutcome outcome;
  outcome.error =
      core::Error{code, "call of " + job->call.endpoint.url() + " failed: " + cause, {}};
  outcome.context = rpc::MessageContext::now(clock_, rpc::MessageDirection::kServerToClient);
  complete(job, std::move(outcome));
}

void LinkCaller::Pool::call(link::OutboundCall call, Completion completion) {
  auto job = std::make_shared<Job>();
  job->begun = clock_.steady_now();
  job->call = std::move(call);
  job->completion = std::move(completion);
  if (job->call.id.is_null()) {
    return fail(job, core::ErrorCode::kInternalError, "a call over a connection needs an id");
  }
  submit(job);
}

void LinkCaller::Pool::submit(const JobPointer& job) {
  std::string key = link_key(job->call.endpoint);
  Actions actions;
  bool waits = false;
  {
    std::lock_guard lock(mutex_);
    waits = enqueue(key, job, actions);
  }
  if (waits) watch_deadline(key, job);
  run(actions);
}

/// True when the job has to wait.
bool LinkCaller::Pool::enqueue(const std::string& key, const JobPointer& job, Actions& actions) {
  auto end = [&](core::ErrorCode code, const char* cause) {
    job->is_queued = false;
    actions.push_back([this, job, code, cause] { fail(job, code, cause); });
    return false;
  };
  if (is_stopping_) return end(core::ErrorCode::kShuttingDown, "this program is stopping");
  auto& peer = peers_[key];
  auto& queue = peer.queues[queue_of(job->call)];
  if (queue.size() >= options_.max_waiting) {
    return end(core::ErrorCode::kOverloaded, "too many calls wait for this peer");
  }
  peer.endpoint = job->call.endpoint;
  job->is_queued = true;
  queue.push_back(job);
  pump(key, peer, actions);
  return job->is_queued;
}

void LinkCaller::Pool::watch_deadline(const std::string& key, const JobPointer& job) {
  if (job->call.deadline == core::Clock::Steady::max()) return;
  auto left =
      std::max(job->call.deadline - clock_.steady_now(), core::Clock::Steady::duration::zero());
  auto timer = timer_.schedule(left, [weak = weak_from_this(), key, job] {
    if (auto self = weak.lock()) self->on_deadline(key, job);
  });
  {
    std::lock_guard lock(mutex_);
    if (job->is_queued) {
      job->timer = timer;
      return;
    }
  }
  timer_.cancel(timer);
}

void LinkCaller::Pool::on_deadline(const std::string& key, const JobPointer& job) {
  {
    std::lock_guard lock(mutex_);
    auto found = peers_.find(key);
    if (!job->is_queued || found == peers_.end()) return;
    job->is_queued = false;
    std::erase(found->second.queues[queue_of(job->call)], job);
    drop_if_unused(key);
  }
  fail(job, core::ErrorCode::kTimeout, "the deadline came before a connection was free");
}

void LinkCaller::Pool::pump(const std::string& key, Peer& peer, Actions& actions) {
  for (std::size_t budget = 0; budget < peer.queues.size(); ++budget) {
    auto& queue = peer.queues[budget];
    for (auto next = queue.begin();
         next != queue.end() && peer.in_flight[budget] < options_.max_per_endpoint;) {
      auto job = *next;
      if (place(key, peer, job, actions)) {
        next = queue.erase(next);
      } else {
        ++next;  // its id is pending on every connection; other calls may go first
        if (peer.is_connecting && peer.links.empty()) break;
      }
    }
  }
}

/// Gives the job to a connection, or completes it. False if it has to wait.
bool LinkCaller::Pool::place(const std::string& key, Peer& peer, const JobPointer& job,
                             Actions& actions) {
  auto budget = queue_of(job->call);
  for (const auto& link : peer.links) {
    if (link->ids.contains(job->call.id)) continue;
    link->ids.insert(job->call.id);
    ++peer.in_flight[budget];
    job->is_queued = false;
    actions.push_back([this, key, link, job] { dispatch(key, link, job); });
    return true;
  }
  bool is_command = peer.endpoint.scheme == "stdio";
  auto most = is_command ? std::size_t{1} : options_.max_connections_per_endpoint;
  if (peer.is_connecting || peer.links.size() >= most) return false;
  if (!make_room(actions)) {
    job->is_queued = false;
    actions.push_back([this, job] {
      fail(job, core::ErrorCode::kOverloaded, "this program has too many connections");
    });
    return true;
  }
  open_link(key, peer, job, actions);
  return false;
}

void LinkCaller::Pool::drop_if_unused(const std::string& key) {
  auto found = peers_.find(key);
  if (found != peers_.end() && found->second.is_unused()) peers_.erase(found);
}

/// A connection could not be opened. If only the deadline of another call has passed, the waiting
/// calls do not fail.
void LinkCaller::Pool::fail_waiting(const std::string& key, const core::Error& why) {
  std::vector<JobPointer> failed;
  Actions actions;
  {
    std::lock_guard lock(mutex_);
    auto found = peers_.find(key);
    if (found == peers_.end()) return;
    auto now = clock_.steady_now();
    bool was_late = why.code == core::ErrorCode::kTimeout;
    for (auto& queue : found->second.queues) {
      std::erase_if(queue, [&](const JobPointer& job) {
        if (was_late && job->call.deadline > now) return false;
        job->is_queued = false;
        failed.push_back(job);
        return true;
      });
    }
    if (!is_stopping_) pump(key, found->second, actions);
    drop_if_unused(key);
  }
  for (const auto& job : failed) {
    if (job->timer != 0) timer_.cancel(job->timer);
    fail(job, why.code, why.message);
  }
  run(actions);
}

void LinkCaller::Pool::dispatch(const std::string& key, const LinkPointer& link,
                                const JobPointer& job) {
  core::Timer::Id timer = 0;
  {
    std::lock_guard lock(mutex_);
    timer = std::exchange(job->timer, 0);
  }
  if (timer != 0) timer_.cancel(timer);
  link::OutboundMessage message{job->call};
  message.deadline = job->call.deadline;
  message.is_repeatable = job->call.is_repeatable;
  const auto& notes = job->call.notes;
  if (job->call.endpoint.scheme == "nats" && notes && !notes->conversation_id.empty())
    message.headers = {{"Trace-Id", notes->conversation_id}};
  link->client->request(job->call.id, std::move(message),
                        [weak = weak_from_this(), key, link, job](link::CallOutcome outcome) {
                          if (auto self = weak.lock())
                            self->on_outcome(key, link, job, std::move(outcome));
                        });
}

void LinkCaller::Pool::on_outcome(const std::string& key, const LinkPointer& link,
                                  const JobPointer& job, link::CallOutcome outcome) {
  Actions actions;
  bool is_repeated = false;
  bool is_idle = false;
  {
    std::lock_guard lock(mutex_);
    ++running_;
    auto& peer = peers_[key];
    link->ids.erase(job->call.id);
    link->last_used = clock_.steady_now();
    --peer.in_flight[queue_of(job->call)];
    // The connection ended before any of the call was sent, so the call may use another connection,
    // once. This connection is no longer usable, even if it has not reported its end yet.
    bool is_unsent = outcome.error && outcome.error->code == core::ErrorCode::kConnectionError &&
                     !outcome.sent_at;
    is_repeated =
        is_unsent && !job->is_repeated && !is_stopping_ && job->call.deadline > clock_.steady_now();
    if (is_unsent) remove_link(peer, link, actions);
    if (!is_stopping_) pump(key, peer, actions);
    is_idle = link->ids.empty() && !std::exchange(link->is_idle_watched, true);
    drop_if_unused(key);
  }
  // A child process may keep state in memory, so it is not closed when idle.
  if (is_idle && job->call.endpoint.scheme != "stdio") watch_idle(key, link);
  run(actions);
  if (is_repeated) {
    job->is_repeated = true;
    submit(job);
  } else {
    complete(job, std::move(outcome));
  }
  std::lock_guard lock(mutex_);
  --running_;
  changed_.notify_all();
}

void LinkCaller::Pool::stop() {
  std::vector<JobPointer> waiting;
  std::vector<LinkPointer> links;
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
    for (auto& [key, peer] : peers_) {
      for (auto& queue : peer.queues) {
        for (auto& job : std::exchange(queue, {})) {
          job->is_queued = false;
          waiting.push_back(job);
        }
      }
      links.insert(links.end(), peer.links.begin(), peer.links.end());
    }
  }
  for (const auto& job : waiting) {
    if (job->timer != 0) timer_.cancel(job->timer);
    fail(job, core::ErrorCode::kShuttingDown, "this program is stopping");
  }
  for (const auto& link : links) link->client->close();
  std::unordered_map<std::string, Peer> left;
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, options_.farewell, [this] {
    return std::all_of(peers_.begin(), peers_.end(),
                       [](const auto& entry) { return entry.second.links.empty(); });
  });
  // A thread that has removed a call from its connection may still have to complete it.
  changed_.wait(lock, [this] {
    return running_ == 0 && std::all_of(peers_.begin(), peers_.end(), [](const auto& entry) {
             const auto& busy = entry.second.in_flight;
             return std::all_of(busy.begin(), busy.end(), [](auto count) { return count == 0; });
           });
  });
  left.swap(peers_);
  lock.unlock();
}

LinkCaller::LinkCaller(link::Connector& connector, const core::Clock& clock, core::Timer& timer,
                       const LinkCallerOptions& options)
    : pool_(std::make_shared<Pool>(connector, clock, timer, options)) {}

LinkCaller::~LinkCaller() { pool_->stop(); }

void LinkCaller::call(link::OutboundCall call, Completion completion) {
  pool_->call(std::move(call), std::move(completion));
}

std::size_t LinkCaller::connections() const { return pool_->connections(); }

}  // namespace league::transport::caller
