#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "bus/transport/bus.h"
#include "common/agent/runtime/delay_meter.h"
#include "common/core/clock.h"
#include "common/core/timer.h"

namespace league::agent::bus {

/// Measures four times a second how long the broker takes to answer this program. While the broker
/// does not answer, no peer on the bus can be heard. Thread-safe.
class BusEcho final : public runtime::BrokerDelay {
 public:
  /// All three outlive it.
  BusEcho(transport::bus::Bus& bus, core::Timer& timer, const core::Clock& clock);
  ~BusEcho() override;
  BusEcho(const BusEcho&) = delete;
  BusEcho& operator=(const BusEcho&) = delete;

  void stop() override;
  [[nodiscard]] std::chrono::nanoseconds worst_since(core::Clock::Steady from) const override;

 private:
  struct State;
  void measure();

  transport::bus::Bus& bus_;
  const std::shared_ptr<State> state_;
  std::thread thread_;
};

}  // namespace league::agent::bus
