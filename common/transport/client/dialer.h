#pragma once

#include <functional>
#include <memory>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/peer_stream.h"
#include "common/transport/link/endpoint.h"

namespace league::transport::client {

/// A new connection.
struct Dialed {
  PeerStream stream;
  std::shared_ptr<const rpc::ConnectionInfo> info;
};

/// Connects to an endpoint, with TLS if its scheme says so, without blocking. `done` runs once, not
/// within this call: with the connection, or with kTimeout or kConnectionError and a text that
/// names only the cause. Everything happens on the event loop's thread. Returns a function that
/// cancels the attempt: `done` is not called any more.
std::function<void()> dial(boost::asio::io_context& context, const link::Endpoint& endpoint,
                           core::Clock::Steady deadline,
                           std::function<void(core::Result<Dialed>)> done);

}  // namespace league::transport::client
