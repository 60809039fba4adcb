#pragma once

#include <memory>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/caller.h"
#include "common/transport/http_server.h"
#include "referee/clock_proof.h"

namespace league::referee {

/// Knows how late the referee itself has been. Implementations are thread-safe.
class DelayMeter {
 public:
  virtual ~DelayMeter() = default;
  /// The worst since `from`, including what is late just now. Looks back ten minutes.
  [[nodiscard]] virtual OwnDelay worst_since(Instant from) = 0;
};

/// Measures all the time: a timer of 25 ms that should be on time, and four times a second a
/// canary, a call to a server of its own in this process, through the caller and the threads that
/// players' calls use. Its calls stand in no log: they are nobody's messages.
class ProbingDelayMeter final : public DelayMeter {
 public:
  /// `caller` calls without a record. All four outlive the meter, and `caller` and `timer` are
  /// shut down before it goes. Fails when no port is free on the loopback interface.
  [[nodiscard]] static core::Result<std::unique_ptr<ProbingDelayMeter>> start(
      transport::HttpRuntime& runtime, transport::Caller& caller, core::Timer& timer,
      const core::Clock& clock);
  ~ProbingDelayMeter() override;

  [[nodiscard]] OwnDelay worst_since(Instant from) override;
  /// Closes the canary's server. Call before the runtime ends.
  void stop();

 private:
  struct Probe;
  explicit ProbingDelayMeter(std::shared_ptr<Probe> probe);

  std::shared_ptr<Probe> probe_;
};

}  // namespace league::referee
