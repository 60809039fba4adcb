#pragma once

#include <memory>
#include <string>

#include "tools/gateway/gateway.h"

namespace league::tools::gateway {

/// A request that the backend is working on.
struct Gateway::Pending {
  Slot slot;
  rpc::Id id;
  std::string method;
  std::string owner;  ///< only the owner may cancel it by its id; empty: nobody, since different
                      ///< clients can use the same ids
  std::string channel;
  std::shared_ptr<transport::PeerChannel> peer;  ///< the same, to push to
  bool is_modern = false;
  GatewayBackend::Cancel cancel;
  bool has_ended = false;
};

}  // namespace league::tools::gateway
