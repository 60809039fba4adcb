#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace league::audit::log {

/// The one thread of a process that writes its conversation logs, however many agents there are. It
/// sleeps until a log has something to write, waits a little for more, and then serves every log
/// that has something to write. A log that cannot write now says when to try again and does not
/// delay the others; a system call that does not return delays all logs. Thread-safe.
class LogWriter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  class Client {
   public:
    virtual ~Client() = default;
    /// On the writer's thread: does the pending work and returns when to be called again unless
    /// woken before.
    virtual std::optional<Time> serve() = 0;
  };

  struct Options {
    std::chrono::milliseconds batch_delay{100};  ///< the longest that expect() may wait
  };

  LogWriter();
  explicit LogWriter(Options options);
  /// Every client must be detached.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// `client` lives until it is detached.
  void attach(Client& client);
  /// Once this returns, the client is not served any more. Must not be called on the writer's
  /// thread.
  void detach(Client& client);

  /// `client` is served within the batch delay.
  void expect(Client& client);
  /// `client` is served as soon as the thread is free.
  void wake(Client& client);

  /// Whether `client` may begin work that needs much time and memory: only one client at a time
  /// may, in steps in its `serve`, until it reports that it has finished.
  [[nodiscard]] bool begin_long_work(const Client& client);
  void end_long_work(const Client& client);

  /// How often the thread has woken up to serve a client.
  [[nodiscard]] std::uint64_t rounds() const;

 private:
  struct Entry {
    Client* client;
    Time due;
    std::uint64_t served_in;  ///< the last round in which it was
  };

  void run();
  void serve_all(std::unique_lock<std::mutex>& lock);
  void make_due(Client& client, Time at);
  Entry* find(const Client& client);
  [[nodiscard]] Time earliest() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable work_;  ///< for the thread
  std::condition_variable served_;  ///< for a client that detaches
  std::vector<Entry> entries_;
  const Client* serving_ = nullptr;
  const Client* long_worker_ = nullptr;
  Time asleep_until_ = Time::min();  ///< min while the thread is awake
  std::uint64_t rounds_ = 0;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace league::audit::log
