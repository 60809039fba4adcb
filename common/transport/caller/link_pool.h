#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/transport/caller/connection_client.h"
#include "common/transport/caller/link_caller.h"

namespace league::transport::caller {

/// The state of a LinkCaller, shared with connections and timers, which may outlive it.
class LinkCaller::Pool : public std::enable_shared_from_this<Pool> {
 public:
  Pool(link::Connector& connector, const core::Clock& clock, core::Timer& timer,
       const LinkCallerOptions& options)
      : connector_(connector), clock_(clock), timer_(timer), options_(options) {}

  void call(link::OutboundCall call, Completion completion);
  void stop();
  [[nodiscard]] std::size_t connections() const {
    std::lock_guard lock(mutex_);
    return link_count_;
  }

 private:
  /// One call, from its beginning to its completion.
  struct Job {
    link::OutboundCall call;
    Completion completion;
    core::Clock::Steady begun;
    core::Timer::Id timer = 0;
    bool is_queued = true;
    bool is_repeated = false;
  };
  using JobPointer = std::shared_ptr<Job>;
  /// One connection.
  struct Link {
    std::shared_ptr<ConnectionClient> client;  ///< destroyed outside of the lock
    std::unordered_set<rpc::Id> ids;  ///< pending on it
    core::Clock::Steady last_used{};
    bool is_idle_watched = false;
    std::optional<core::Error> lost;
  };
  using LinkPointer = std::shared_ptr<Link>;
  struct Peer {
    link::Endpoint endpoint;
    std::vector<LinkPointer> links;
    bool is_connecting = false;
    std::array<std::deque<JobPointer>, 3> queues;  ///< by budget
    std::array<std::size_t, 3> in_flight{};
    [[nodiscard]] bool is_unused() const;
  };
  /// Work to do after the lock is released.
  using Actions = std::vector<std::function<void()>>;

  void submit(const JobPointer& job);
  bool enqueue(const std::string& key, const JobPointer& job, Actions& actions);
  void watch_deadline(const std::string& key, const JobPointer& job);
  void watch_idle(const std::string& key, const LinkPointer& link);
  void pump(const std::string& key, Peer& peer, Actions& actions);
  bool place(const std::string& key, Peer& peer, const JobPointer& job, Actions& actions);
  void open_link(const std::string& key, Peer& peer, const JobPointer& job, Actions& actions);
  bool make_room(Actions& actions);
  void dispatch(const std::string& key, const LinkPointer& link, const JobPointer& job);
  void on_opened(const std::string& key,
                 core::Result<std::shared_ptr<link::MessageConnection>> connection);
  void on_outcome(const std::string& key, const LinkPointer& link, const JobPointer& job,
                  link::CallOutcome outcome);
  void on_link_closed(const std::string& key, const LinkPointer& link, const core::Error& why);
  void on_idle(const std::string& key, const LinkPointer& link);
  void on_deadline(const std::string& key, const JobPointer& job);
  void fail_waiting(const std::string& key, const core::Error& why);
  void remove_link(Peer& peer, const LinkPointer& link, Actions& actions);
  void drop_if_unused(const std::string& key);
  void complete(const JobPointer& job, link::CallOutcome outcome);
  void fail(const JobPointer& job, core::ErrorCode code, const std::string& cause);
  static void run(Actions& actions);

  link::Connector& connector_;
  const core::Clock& clock_;
  core::Timer& timer_;
  const LinkCallerOptions options_;
  mutable std::mutex mutex_;  // guards the rest, never held while something of others runs
  std::condition_variable changed_;
  std::unordered_map<std::string, Peer> peers_;
  std::size_t link_count_ = 0;  ///< with those that are being opened
  std::size_t running_ = 0;  ///< completions at work now
  bool is_stopping_ = false;
};

}  // namespace league::transport::caller
