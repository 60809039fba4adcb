#pragma once

#include <optional>
#include <utility>

#include "common/core/clock.h"
#include "common/rpc/direction.h"
#include "common/rpc/session_id.h"
#include "common/rpc/timing_context.h"
#include "common/rpc/transport_context.h"

namespace league::rpc {

/// Everything that is known about a message but not part of it: it accompanies the message inside
/// the process and is never sent. A value; copying an HTTP context allocates nothing. Source: the
/// MessageEnvelope design (docs/decisions.md).
struct MessageContext {
  MessageDirection direction = MessageDirection::kUnknown;
  std::optional<SessionId> session;  ///< nothing where there is none, or not yet
  TransportContext transport;
  TimingContext timing;

  /// The context of a message that is sent or received now.
  [[nodiscard]] static MessageContext now(const core::Clock& clock,
                                          MessageDirection direction = MessageDirection::kUnknown,
                                          TransportContext transport = {}) {
    return {direction, std::nullopt, std::move(transport), TimingContext::now(clock)};
  }

  /// The context of the answer: reversed direction, same session, transport and connection, its own
  /// time.
  [[nodiscard]] MessageContext for_response(const core::Clock& clock) const {
    return {reverse(direction), session, transport, TimingContext::now(clock)};
  }
};

}  // namespace league::rpc
