#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/peer_stream.h"
#include "common/transport/link/endpoint.h"

namespace league::transport {

/// A new connection.
struct Dialed {
  PeerStream stream;
  std::shared_ptr<const rpc::ConnectionInfo> info;
};

/// An attempt to connect that can be cancelled.
class Dial {
 public:
  virtual ~Dial() = default;
  /// After this, `done` is not called any more.
  virtual void cancel() = 0;
};

/// True for https, wss and sse+https.
[[nodiscard]] bool is_secure(std::string_view scheme);

/// Connects to an endpoint, with TLS if its scheme says so; like PeerConnector, but without
/// blocking. `done` runs once, later, with kTimeout or kConnectionError and only the cause.
/// Everything happens on the event loop's thread.
[[nodiscard]] std::shared_ptr<Dial> dial(boost::asio::io_context& context, const Endpoint& endpoint,
                                         core::Clock::Steady deadline,
                                         std::function<void(core::Result<Dialed>)> done);

}  // namespace league::transport
