#pragma once

#include "common/agent/seats/seats.h"
#include "common/core/clock.h"
#include "common/rpc/seat_address.h"
#include "common/transport/link/caller.h"

namespace league::agent::seats {

using rpc::kOutward;
using rpc::kSeatScheme;

/// Makes the program's own calls to seated players, and passes every other call on. Thread-safe.
class SeatCaller final : public transport::link::Caller {
 public:
  /// All references outlive it and its calls. Null `seats`: there are none.
  SeatCaller(transport::link::Caller& others, Seats* seats, const core::Clock& clock)
      : others_(others), seats_(seats), clock_(clock) {}

  void call(transport::link::OutboundCall call, Completion completion) override;

 private:
  transport::link::Caller& others_;
  Seats* const seats_;
  const core::Clock& clock_;
};

}  // namespace league::agent::seats
