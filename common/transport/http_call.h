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

/// Performs one call; `complete` runs once, before this returns, at the latest at the deadline. It
/// may go on for a moment after that, to read the end of a stream whose answer is here, so that the
/// connection can be used again. An answer in a stream of events is the response with the call's
/// id (the first one, where that is null); one that breaks off after an event with an id is
/// continued by GET with Last-Event-ID. Thread-safe.
void perform_http_call(const OutboundCall& call, const std::string& peer,
                       const HttpCallTools& tools, const Caller::Completion& complete);

/// The outcome of a call that never began or failed: the text names the URL, the phase and the
/// cause.
[[nodiscard]] CallOutcome failed_call(const OutboundCall& call, core::ErrorCode code,
                                      std::string_view phase, std::string_view cause);

}  // namespace league::transport
