#pragma once

#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "common/transport/caller/link_caller.h"
#include "common/transport/link/event_loop.h"
#include "tools/league/client/bus_link.h"

namespace league::tools::check {

/// The checker on a message bus: calls agents there, and can be their league manager. Thread-safe.
class CheckerBus {
 public:
  /// Fails like BusLink::join.
  [[nodiscard]] static core::Result<std::unique_ptr<CheckerBus>> join(
      const agent::bus::BusOptions& options);

  /// Calls `nats:` endpoints.
  [[nodiscard]] transport::link::Caller& caller() { return *caller_; }
  /// Serves agents that look for the league, until the returned pointer is destroyed; `handler` and
  /// this object must outlive it.
  [[nodiscard]] core::Result<std::shared_ptr<void>> serve_league(
      transport::link::MessageHandler& handler, const std::string& league_id);

 private:
  explicit CheckerBus(std::unique_ptr<transport::link::EventLoop> loop) : loop_(std::move(loop)) {}
  [[nodiscard]] BusLink::Context context() { return {*loop_, timer_, clock_, random_}; }

  const std::unique_ptr<transport::link::EventLoop> loop_;
  core::SystemClock clock_;
  core::CryptoRandom random_;
  core::ThreadTimer timer_;
  std::unique_ptr<BusLink> link_;
  std::unique_ptr<transport::caller::LinkCaller> caller_;  // last: it uses everything above
};

}  // namespace league::tools::check
