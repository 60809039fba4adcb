#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/bus/bus.h"
#include "common/transport/link/subject.h"

namespace league::transport {

/// What the manager that answered said.
struct BusAttachment {
  std::string league_id;
  std::chrono::milliseconds keep_alive{0};  ///< 0: it sends none
};

/// Finds the league's manager through `mcp.discovery` and has it listen to a session. Asks again
/// until it is answered: a manager that serves another league says nothing, and one that is
/// starting is not there yet. Thread-safe. Source: the design for stateless sessions, §4.2.
class BusDiscovery {
 public:
  using Attached = std::function<void(const core::Result<BusAttachment>&)>;

  /// All outlive it, and the timer runs nothing of it afterwards.
  BusDiscovery(Bus& bus, BusSession session, const core::Clock& clock, core::Timer& timer,
               core::RandomSource& random);
  ~BusDiscovery();
  BusDiscovery(const BusDiscovery&) = delete;
  BusDiscovery& operator=(const BusDiscovery&) = delete;

  /// Attaches to `league`, or to whichever answers first where it is empty. Calls `attached` once,
  /// on a thread of the bus or the timer: kConnectionError when nobody has answered at `deadline`,
  /// kShuttingDown when this is destroyed.
  void attach(const std::string& league, core::Clock::Steady deadline, Attached attached);

 private:
  class State;
  std::shared_ptr<State> state_;
};

/// The payload of a request to attach.
[[nodiscard]] std::string attach_request(std::uint64_t id);
/// What its answer says; kInvalidReply with the reason where it says nothing usable.
[[nodiscard]] core::Result<BusAttachment> read_attachment(std::string_view payload);

}  // namespace league::transport
