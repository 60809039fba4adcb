#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "common/core/clock.h"

namespace league::transport {

/// Threads that come when jobs wait and go when they are idle. Jobs of one peer take at most
/// `max_per_peer` of them; peers take turns. Thread-safe.
class CallPool {
 public:
  struct Options {
    std::size_t max_threads = 64;
    std::size_t max_per_peer = 16;
    /// So many threads may compute at once; those that wait for a peer do not count. More would
    /// only take the processor from each other.
    int max_active = std::max(2, static_cast<int>(std::thread::hardware_concurrency()));
    std::chrono::milliseconds thread_idle{5000};
  };
  enum class Verdict { kRun, kTooLate, kStopping };
  /// While one lives, its thread waits for something outside the process. On a thread of a pool
  /// this makes room for another thread to compute; on any other it does nothing.
  class Waiting {
   public:
    Waiting();
    ~Waiting();
    Waiting(const Waiting&) = delete;
    Waiting& operator=(const Waiting&) = delete;

   private:
    CallPool* pool_;
  };
  struct Job {
    std::string peer;
    core::Clock::Steady deadline;
    /// Called exactly once: on a thread of the pool with kRun, or, when the job is not run, with
    /// the reason.
    std::function<void(Verdict)> run;
  };

  explicit CallPool(const Options& options);
  /// Jobs that wait end with kStopping; joins those that run.
  ~CallPool();
  CallPool(const CallPool&) = delete;
  CallPool& operator=(const CallPool&) = delete;

  void submit(Job job);
  [[nodiscard]] std::size_t threads() const;

 private:
  struct Peer {
    std::deque<std::shared_ptr<Job>> waiting;
    std::size_t running = 0;
    bool is_ready = false;  ///< stands in ready_
  };
  /// A thread that waits for work.
  struct Idle {
    std::condition_variable wake;
    bool is_woken = false;
  };
  using Lock = std::unique_lock<std::mutex>;

  void work(std::list<std::jthread>::iterator self);
  bool wait_for_work(Lock& lock);
  std::shared_ptr<Job> take(Lock& lock);
  void finish(Lock& lock, const std::string& peer);
  void make_ready(const std::string& name, Peer& peer);
  bool offer_thread();
  bool provide_thread();
  void begin_wait();
  void watch();
  void end_stall();
  std::shared_ptr<Job> take_overdue(Lock& lock);
  std::deque<std::shared_ptr<Job>> take_all(Lock& lock);

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable watched_;  // the watcher waits here
  std::unordered_map<std::string, Peer> peers_;
  std::deque<std::string> ready_;  // peers with a job that may run
  std::multimap<core::Clock::Steady, std::weak_ptr<Job>>
      deadlines_;  // of jobs that could not run at once
  /// The last to fall idle is the first to be woken: its stack, its heap and its buffers are still
  /// in the cache, and those of threads beyond the usual load stay untouched until they end.
  std::vector<Idle*> idle_;
  /// Threads that have or look for a job and do not wait for a peer. It and `queued_` change and
  /// are read in one order for all: either who submits sees the free place, or who begins to wait
  /// sees the job.
  std::atomic<int> active_{0};
  std::atomic<int> queued_{0};  ///< the size of ready_
  /// When the watcher looks whether a job is kept from running by threads that compute too long.
  std::optional<core::Clock::Steady> stall_check_;
  bool is_stopping_ = false;
  std::list<std::jthread> threads_;
  std::list<std::jthread> ended_;
  std::jthread watcher_;  // last: it uses everything above
};

}  // namespace league::transport
