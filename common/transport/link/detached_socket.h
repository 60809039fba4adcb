#pragma once

#include <functional>
#include <memory>
#include <string>

#include "common/rpc/context.h"
#include "common/transport/link/socket.h"

namespace league::transport::link {

/// A connection that the front has given up: it now belongs to a stream.
struct DetachedSocket {
  core::FileDescriptor fd;
  std::string leftover;  ///< data that the peer has sent after its request
  std::shared_ptr<const rpc::ConnectionInfo> connection;
  /// The connection's place under the limits; held until the descriptor is closed.
  std::shared_ptr<void> seat;
};

/// Takes a connection over. Called once, on a worker of the front; must not block.
using TakeOver = std::function<void(DetachedSocket)>;

}  // namespace league::transport::link
