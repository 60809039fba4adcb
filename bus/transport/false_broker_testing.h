#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace league::testing {

/// Takes connections at a port of the loopback, as a broker or what stands before it, and closes
/// each; kAfterPong resets it once it stands. Ends with the object. Thread-safe.
class FalseBroker {
 public:
  enum class Closes { kAtOnce, kAfterInfo, kAfterConnect, kWithReset, kAfterPong, kNever };

  /// Throws where the port cannot be had.
  FalseBroker(int port, Closes closes);
  /// Waits for its thread; the port is free afterwards.
  ~FalseBroker();
  FalseBroker(const FalseBroker&) = delete;
  FalseBroker& operator=(const FalseBroker&) = delete;

  /// True once it has taken so many connections; false after twenty seconds without.
  [[nodiscard]] bool wait_for(int connections);

 private:
  void serve();
  void treat(int connection) const;

  Closes closes_;
  int listener_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  int count_ = 0;
  std::thread thread_;
};

}  // namespace league::testing
