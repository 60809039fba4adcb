#pragma once

#include <memory>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/peer_stream.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/task.h"

namespace league::transport::client {

/// A new connection.
struct Dialed {
  PeerStream stream;
  std::shared_ptr<const rpc::ConnectionInfo> info;
};

/// Connects to an endpoint, with TLS if its scheme says so: each address of its host gets half of
/// the time that is left, the last one all of it. Fails with kTimeout or kConnectionError and a
/// text that names only the cause.
link::Task<core::Result<Dialed>> dial(boost::asio::io_context* context, link::Endpoint endpoint,
                                      core::Clock::Steady deadline);

}  // namespace league::transport::client
