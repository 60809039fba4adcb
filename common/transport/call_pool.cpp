#include "common/transport/call_pool.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace league::transport {

namespace {

/// What the thread is doing for which pool: a job that is submitted from within a job needs no
/// other thread, since this one is about to be free.
struct Working {
  CallPool* pool = nullptr;
  bool has_own_next = false;
};
thread_local Working working;

/// So long jobs may be kept waiting by jobs that compute.
constexpr std::chrono::milliseconds kStall{5};

}  // namespace

CallPool::Waiting::Waiting() : pool_(working.pool) {
  if (pool_ != nullptr) pool_->begin_wait();
}

CallPool::Waiting::~Waiting() {
  if (pool_ != nullptr) ++pool_->active_;
}

void CallPool::begin_wait() {
  --active_;
  if (queued_ == 0) return;
  Lock lock(mutex_);
  if (!ready_.empty() && active_ < options_.max_active) provide_thread();
}

CallPool::CallPool(const Options& options) : options_(options), watcher_([this] { watch(); }) {}

CallPool::~CallPool() {
  std::deque<std::shared_ptr<Job>> unrun;
  {
    Lock lock(mutex_);
    is_stopping_ = true;
    unrun = take_all(lock);
    for (Idle* thread : idle_) thread->wake.notify_one();
  }
  watched_.notify_all();
  for (const auto& job : unrun) job->run(Verdict::kStopping);
  watcher_.join();
  Lock lock(mutex_);
  auto threads = std::move(threads_);
  auto ended = std::move(ended_);
  lock.unlock();
}

std::size_t CallPool::threads() const {
  std::lock_guard lock(mutex_);
  return threads_.size();
}

void CallPool::submit(Job job) {
  auto shared = std::make_shared<Job>(std::move(job));
  {
    Lock lock(mutex_);
    if (!is_stopping_) {
      Peer& peer = peers_[shared->peer];
      peer.waiting.push_back(shared);
      // Submitted from within a job of this pool: its thread is about to be free.
      bool is_own = working.pool == this && !std::exchange(working.has_own_next, true);
      bool has_room = peer.running + peer.waiting.size() <= options_.max_per_peer;
      make_ready(shared->peer, peer);
      bool runs_at_once =
          is_own || (peer.running < options_.max_per_peer && offer_thread() && has_room);
      if (!runs_at_once) {
        auto place = deadlines_.emplace(shared->deadline, shared);
        if (place == deadlines_.begin()) watched_.notify_one();
      }
      return;
    }
  }
  shared->run(Verdict::kStopping);
}

void CallPool::make_ready(const std::string& name, Peer& peer) {
  if (peer.is_ready || peer.waiting.empty() || peer.running >= options_.max_per_peer) return;
  peer.is_ready = true;
  ready_.push_back(name);
  ++queued_;
}

/// A thread for the job that has become ready, unless enough compute: then the first that is done,
/// or waits for its peer, sees to the job. False when the job has to wait.
bool CallPool::offer_thread() {
  if (active_ < options_.max_active) return provide_thread();
  if (!stall_check_) {
    stall_check_ = std::chrono::steady_clock::now() + kStall;
    watched_.notify_one();
  }
  return false;
}

bool CallPool::provide_thread() {
  if (!idle_.empty()) {
    Idle* thread = idle_.back();
    idle_.pop_back();
    thread->is_woken = true;
    ++active_;
    thread->wake.notify_one();
    return true;
  }
  if (threads_.size() >= options_.max_threads) return false;
  ++active_;
  auto place = threads_.emplace(threads_.end());
  *place = std::jthread([this, place] { work(place); });
  return true;
}

void CallPool::work(std::list<std::jthread>::iterator self) {
  Lock lock(mutex_);
  for (;;) {
    auto job = take(lock);
    if (!job) {
      if (is_stopping_ || !wait_for_work(lock)) break;
      continue;
    }
    lock.unlock();
    working = {this, false};
    job->run(Verdict::kRun);
    working = {};
    job->run = nullptr;  // what the caller captured ends here, not under the lock
    std::string peer = job->peer;
    job.reset();
    lock.lock();
    finish(lock, peer);
  }
  if (is_stopping_) return;  // the destructor joins
  ended_.splice(ended_.end(), threads_, self);
  watched_.notify_one();
}

/// False when there was none for so long that the thread should end. It leaves the active ones
/// either way; who wakes it counts it again.
bool CallPool::wait_for_work(Lock& lock) {
  Idle self;
  idle_.push_back(&self);
  --active_;
  self.wake.wait_for(lock, options_.thread_idle, [&] { return self.is_woken || is_stopping_; });
  if (self.is_woken) return true;
  std::erase(idle_, &self);
  return is_stopping_;
}

std::shared_ptr<CallPool::Job> CallPool::take(Lock&) {
  while (!ready_.empty()) {
    std::string name = std::move(ready_.front());
    ready_.pop_front();
    --queued_;
    auto found = peers_.find(name);
    if (found == peers_.end()) continue;
    Peer& peer = found->second;
    peer.is_ready = false;
    if (peer.waiting.empty() || peer.running >= options_.max_per_peer) continue;
    auto job = std::move(peer.waiting.front());
    peer.waiting.pop_front();
    ++peer.running;
    make_ready(name, peer);
    return job;
  }
  return nullptr;
}

void CallPool::finish(Lock&, const std::string& name) {
  auto found = peers_.find(name);
  if (found == peers_.end()) return;
  --found->second.running;
  make_ready(name, found->second);
  if (found->second.running == 0 && found->second.waiting.empty()) peers_.erase(found);
}

void CallPool::watch() {
  Lock lock(mutex_);
  while (!is_stopping_) {
    if (!ended_.empty()) {
      auto ended = std::move(ended_);
      ended_.clear();
      lock.unlock();
      ended.clear();  // joins
      lock.lock();
    } else if (auto job = take_overdue(lock)) {
      lock.unlock();
      job->run(Verdict::kTooLate);
      job.reset();
      lock.lock();
    } else if (stall_check_ && std::chrono::steady_clock::now() >= *stall_check_) {
      end_stall();
    } else {
      auto next = stall_check_;
      if (!deadlines_.empty())
        next = std::min(next.value_or(deadlines_.begin()->first), deadlines_.begin()->first);
      if (next) {
        watched_.wait_until(lock, *next);
      } else {
        watched_.wait(lock);
      }
    }
  }
}

/// Whoever computes has had its time: the next job gets a thread all the same.
void CallPool::end_stall() {
  stall_check_.reset();
  if (ready_.empty() || !provide_thread()) return;
  stall_check_ = std::chrono::steady_clock::now() + kStall;
}

/// The next job that waits beyond its deadline; forgets on the way those that have begun.
std::shared_ptr<CallPool::Job> CallPool::take_overdue(Lock&) {
  auto now = std::chrono::steady_clock::now();
  while (!deadlines_.empty()) {
    auto first = deadlines_.begin();
    auto job = first->second.lock();
    if (job && first->first > now) return nullptr;
    deadlines_.erase(first);
    auto peer = job ? peers_.find(job->peer) : peers_.end();
    if (peer == peers_.end()) continue;
    auto& waiting = peer->second.waiting;
    auto place = std::find(waiting.begin(), waiting.end(), job);
    if (place == waiting.end()) continue;
    waiting.erase(place);
    if (waiting.empty() && peer->second.running == 0) peers_.erase(peer);
    return job;
  }
  return nullptr;
}

std::deque<std::shared_ptr<CallPool::Job>> CallPool::take_all(Lock&) {
  std::deque<std::shared_ptr<Job>> all;
  for (auto& [name, peer] : peers_) {
    for (auto& job : peer.waiting) all.push_back(std::move(job));
    peer.waiting.clear();
  }
  return all;
}

}  // namespace league::transport
