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

namespace league::agent {

/// Measures four times a second how long the broker takes to answer this program. While it does
/// not, a peer on the bus cannot be heard, whatever it does. Thread-safe.
class BusEcho {
 public:
  /// All three outlive it.
  BusEcho(transport::Bus& bus, core::Timer& timer, const core::Clock& clock);
  ~BusEcho();
  BusEcho(const BusEcho&) = delete;
  BusEcho& operator=(const BusEcho&) = delete;

  /// Ends the measuring. May wait for a broker that does not answer, for a second.
  void stop();
  /// The longest that the broker took since `from`, including what it takes just now. Looks back
  /// ten minutes.
  [[nodiscard]] std::chrono::nanoseconds worst_since(core::Clock::Steady from) const;

 private:
  struct State;
  void measure();

  transport::Bus& bus_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace league::agent
