#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "common/core/clock.h"
#include "common/transport/caller.h"
#include "common/transport/connection_cache.h"
#include "common/transport/peer_connector.h"

namespace league::transport {

/// What one call needs from its caller; all outlive it.
struct HttpCallTools {
  PeerConnector* connector = nullptr;
  ConnectionCache* cache = nullptr;
  std::size_t max_response = 0;
  int cancel_fd = -1;
};

/// The name under which an endpoint's connections and queue are kept.
[[nodiscard]] std::string peer_key(const Endpoint& endpoint);

/// Performs one call and blocks until it ends, at the latest at its deadline. Thread-safe.
[[nodiscard]] CallOutcome perform_http_call(const OutboundCall& call, const std::string& peer,
                                            const HttpCallTools& tools);

/// The outcome of a call that never began or failed: the text names the URL, the phase and the
/// cause.
[[nodiscard]] CallOutcome failed_call(const OutboundCall& call, core::ErrorCode code,
                                      std::string_view phase, std::string_view cause);

}  // namespace league::transport
