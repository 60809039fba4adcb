#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "bus/transport/bus.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/task/task.h"
#include "common/transport/link/subject.h"

namespace league::transport::bus {

/// What the manager that answered said.
struct BusAttachment {
  std::string league_id;
  std::chrono::milliseconds keep_alive{0};  ///< 0: it sends none
};

/// Finds the league's manager through `mcp.discovery` and makes it listen to a session. Repeats the
/// question until it is answered: a manager that serves another league stays silent, and one that
/// is starting is not there yet. Outlives its tasks. Thread-safe. Source: the design for stateless
/// sessions, §4.2.
class BusDiscovery {
 public:
  explicit BusDiscovery(SessionOnBus on) : on_(std::move(on)) {}

  /// Attaches to `league`, or, if that is empty, to the first manager that answers.
  /// kConnectionError: nobody has answered by `deadline`. Runs where it is awaited.
  [[nodiscard]] task::Task<core::Result<BusAttachment>> attach(std::string league,
                                                               core::Clock::Steady deadline) const;

 private:
  const SessionOnBus on_;
};

/// The payload of a request to attach.
[[nodiscard]] std::string attach_request(std::uint64_t id);
/// Reads the answer; kInvalidReply with the reason if it cannot be used.
[[nodiscard]] core::Result<BusAttachment> read_attachment(std::string_view payload);

}  // namespace league::transport::bus
