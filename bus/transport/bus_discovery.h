#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// What the manager that answered said.
struct BusAttachment {
  std::string league_id;
  std::chrono::milliseconds keep_alive{0};  ///< 0: it sends none
};

/// Finds the league's manager through `mcp.discovery` and makes it listen to a session. Repeats the
/// question until it is answered: a manager that serves another league stays silent, and one that
/// is starting is not there yet. Thread-safe. Source: the design for stateless sessions, §4.2.
class BusDiscovery {
 public:
  using Attached = std::function<void(const core::Result<BusAttachment>&)>;

  /// All outlive it, and the timer runs nothing of it afterwards.
  BusDiscovery(Bus& bus, link::BusSession session, const core::Clock& clock, core::Timer& timer,
               core::RandomSource& random);
  ~BusDiscovery();
  BusDiscovery(const BusDiscovery&) = delete;
  BusDiscovery& operator=(const BusDiscovery&) = delete;

  /// Attaches to `league`, or, if that is empty, to the first manager that answers. Calls
  /// `attached` once, perhaps before this returns, on a thread of the bus, of the timer or of a
  /// caller: kConnectionError if nobody has answered by `deadline`, kShuttingDown if this is
  /// destroyed.
  void attach(const std::string& league, core::Clock::Steady deadline, Attached attached);

 private:
  class State;
  std::shared_ptr<State> state_;
};

/// The payload of a request to attach.
[[nodiscard]] std::string attach_request(std::uint64_t id);
/// Reads the answer; kInvalidReply with the reason if it cannot be used.
[[nodiscard]] core::Result<BusAttachment> read_attachment(std::string_view payload);

}  // namespace league::transport::bus
