#pragma once

#include <memory>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/caller.h"

namespace league::transport {

/// Makes a call again that was refused because of too many requests: HTTP status 429, or a JSON-RPC
/// error with `retry_after_ms` in its `data`. It waits as long as the peer asks, and a moment that
/// grows from refusal to refusal; a call whose deadline comes before that ends with the refusal as
/// it is. Thread-safe if the caller is.
class PatientCaller final : public Caller {
 public:
  /// `timer` and `clock` outlive the caller.
  PatientCaller(std::unique_ptr<Caller> inner, core::Timer& timer, const core::Clock& clock);
  /// Ends what waits, and what runs, with kShuttingDown.
  ~PatientCaller() override;
  PatientCaller(const PatientCaller&) = delete;
  PatientCaller& operator=(const PatientCaller&) = delete;

  void call(OutboundCall call, Completion completion) override;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

/// How long the peer asks to wait; nothing where the outcome is no refusal of that kind.
[[nodiscard]] std::optional<std::chrono::milliseconds> wait_asked_for(const CallOutcome& outcome);

}  // namespace league::transport
