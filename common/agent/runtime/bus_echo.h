#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"

namespace league::agent::runtime {

/// Measures four times a second how long the broker takes to answer this program. While the broker
/// does not answer, no peer on the bus can be heard. Thread-safe.
class BusEcho {
 public:
  /// All three outlive it.
  BusEcho(transport::bus::Bus& bus, core::Timer& timer, const core::Clock& clock);
  ~BusEcho();
  BusEcho(const BusEcho&) = delete;
  BusEcho& operator=(const BusEcho&) = delete;

  /// Ends the measuring. May block for up to a second if the broker does not answer.
  void stop();
  /// The longest time that the broker has taken since `from`, including a request that is still
  /// pending. Covers the last ten minutes.
  [[nodiscard]] std::chrono::nanoseconds worst_since(core::Clock::Steady from) const;

 private:
  struct State;
  void measure();

  transport::bus::Bus& bus_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace league::agent::runtime
