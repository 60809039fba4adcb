#pragma once

#include <memory>

#include "bus/transport/bus_discovery.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::bus {

/// Connects to `nats:` endpoints for one session: `nats:manager` by way of discovery, others
/// directly. The connections are logical: each request has an inbox of its own for its answer. A
/// request that was pending when the broker was lost, or that nobody listened to, is sent again
/// with the same bytes until its deadline; so is an open request after 2, 4 and 8 s, and when its
/// peer attaches. So a peer must give a repeated request the same answer.
/// Thread-safe. Source: docs/distributed.md.
class BusConnector final : public link::Connector {
 public:
  /// What `on` names outlives its connections, too. What is being opened when it ends is never
  /// opened.
  BusConnector(link::EventLoop& loop, const SessionOnBus& on);

  void connect(const link::Endpoint& endpoint, core::Clock::Steady deadline,
               Opened opened) override;

 private:
  /// Shared with connections that are being opened.
  struct Parts;
  const std::shared_ptr<Parts> parts_;
};

}  // namespace league::transport::bus
