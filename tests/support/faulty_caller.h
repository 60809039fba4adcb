#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "common/core/timer.h"
#include "common/transport/link/caller.h"

namespace league::testing {

/// What becomes of one call on a bad network.
struct Fault {
  enum class Kind {
    kNone,
    kLoseRequest,  ///< never arrives; the caller sees a time-out
    kLoseReply,  ///< arrives and is answered; the caller sees a time-out
    kDelay,  ///< arrives late by `delay`
    kDuplicate,  ///< arrives twice; the first answer counts
    kRefuse,  ///< connection refused
  };
  Kind kind = Kind::kNone;
  std::chrono::milliseconds delay{0};
};

/// Decides over every call of every agent; `from` is the calling agent's name.
using FaultPlan =
    std::function<Fault(const std::string& from, const transport::link::OutboundCall&)>;

/// A Caller over a bad network. Thread-safe if the plan is.
class FaultyCaller final : public transport::link::Caller {
 public:
  /// All but `from` outlive the caller and its calls; an empty plan harms nobody.
  FaultyCaller(transport::link::Caller& inner, core::Timer& timer, const core::Clock& clock,
               const FaultPlan& plan, std::string from)
      : inner_(inner), timer_(timer), clock_(clock), plan_(plan), from_(std::move(from)) {}

  void call(transport::link::OutboundCall call, Completion completion) override;

 private:
  void time_out(core::Clock::Steady deadline, Completion completion);

  transport::link::Caller& inner_;
  core::Timer& timer_;
  const core::Clock& clock_;
  const FaultPlan& plan_;
  const std::string from_;
};

}  // namespace league::testing
