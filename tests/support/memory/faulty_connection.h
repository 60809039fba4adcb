#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::memory {

/// The faults of a connection: the fraction of messages that each hits, 0 to 1, in both directions.
struct FaultPlan {
  std::uint64_t seed = 1;  ///< the same faults for the same messages in the same order
  double drop = 0;  ///< lost; the sender does not learn it
  double duplicate = 0;
  double delay = 0;  ///< comes late, and so does everything sent after it
  double reorder = 0;  ///< comes late, after messages sent later
  double cut = 0;  ///< the connection ends instead
  std::chrono::milliseconds longest_delay{20};
};

/// `connection` with faults, for tests of its users. `clock` and `timer` outlive it and its delayed
/// messages.
[[nodiscard]] std::shared_ptr<link::MessageConnection> make_faulty(
    std::shared_ptr<link::MessageConnection> connection, const FaultPlan& plan,
    const core::Clock& clock, core::Timer& timer);

/// Opens faulty connections, each with a seed of its own that follows from the plan's.
class FaultyConnector final : public link::Connector {
 public:
  /// All outlive it and its connections.
  FaultyConnector(link::Connector& connector, const FaultPlan& plan, const core::Clock& clock,
                  core::Timer& timer)
      : connector_(connector), plan_(plan), clock_(clock), timer_(timer) {}

  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;

 private:
  link::Connector& connector_;
  const FaultPlan plan_;
  const core::Clock& clock_;
  core::Timer& timer_;
  std::atomic<std::uint64_t> number_ = 0;
};

}  // namespace league::transport::memory
