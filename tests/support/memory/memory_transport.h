#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/message_handler.h"
#include "tests/support/memory/memory_connection.h"

namespace league::transport::memory {

/// A network inside the process: handlers by URL, messages in the order in which they were sent,
/// time from an injected clock. Nothing happens but in `run_one`, `run_until_idle` and when the
/// timer fires, so whole leagues are deterministic and take no time. Thread-safe, but only one
/// thread should run it.
class MemoryNetwork {
 public:
  /// Both outlive the network.
  MemoryNetwork(const core::Clock& clock, core::Timer& timer);

  /// Messages to `url` go to `handler`, which must outlive this registration. Replaces an earlier
  /// one.
  void listen(const std::string& url, link::MessageHandler& handler);
  void close(const std::string& url);

  /// Takes one step, so that a test can check the state in between; false if none waits.
  bool run_one();
  /// Delivers messages until none is left; returns how many steps that took.
  std::size_t run_until_idle();

 private:
  friend class MemoryCaller;
  struct Call;
  void begin(link::OutboundCall call, link::Caller::Completion completion);
  void deliver(const std::shared_ptr<Call>& call);
  void finish(const std::shared_ptr<Call>& call, link::CallOutcome outcome);
  void fail(const std::shared_ptr<Call>& call, core::ErrorCode code, const std::string& cause);
  void answer(const std::shared_ptr<Call>& call, link::OutboundReply reply);
  void post(std::function<void()> step);

  const core::Clock& clock_;
  core::Timer& timer_;
  std::mutex mutex_;  // guards the rest, never held while a step runs
  std::map<std::string, link::MessageHandler*> handlers_;
  MemorySteps steps_;
};

/// A Caller into a MemoryNetwork, which outlives it and its calls. A peer that never answers ends
/// with kTimeout at the deadline; one that does not listen with kConnectionError.
class MemoryCaller final : public link::Caller {
 public:
  explicit MemoryCaller(MemoryNetwork& network) : network_(network) {}
  void call(link::OutboundCall call, Completion completion) override;

 private:
  MemoryNetwork& network_;
};

}  // namespace league::transport::memory
