#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/core/clock.h"
#include "common/rpc/direction.h"
#include "common/rpc/session_context.h"
#include "common/rpc/timing_context.h"
#include "common/rpc/transport_context.h"

namespace league::rpc {

/// Everything about a message that is not in the message: it travels beside it inside the process,
/// never on the wire. A value; a copy of an HTTP context allocates nothing. Source: the
/// MessageEnvelope design (docs/decisions.md).
struct MessageContext {
  MessageDirection direction = MessageDirection::kUnknown;
  SessionContext session;
  TransportContext transport;
  TimingContext timing;

  /// Unknown direction and transport, no session, created now.
  [[nodiscard]] static MessageContext minimal(const core::Clock& clock) {
    return minimal(TimingContext::now(clock));
  }
  [[nodiscard]] static MessageContext minimal(const TimingContext& timing) {
    MessageContext context;
    context.timing = timing;
    return context;
  }

  /// Enough to route by: a known direction and a session id.
  [[nodiscard]] bool is_complete() const {
    return direction != MessageDirection::kUnknown && session.session_id.has_value();
  }

  /// The same with one part replaced; chain them on a temporary, which copies nothing.
  [[nodiscard]] MessageContext with_direction(MessageDirection value) const&;
  [[nodiscard]] MessageContext with_direction(MessageDirection value) &&;
  [[nodiscard]] MessageContext with_session(SessionContext value) const&;
  [[nodiscard]] MessageContext with_session(SessionContext value) &&;
  [[nodiscard]] MessageContext with_transport(TransportContext value) const&;
  [[nodiscard]] MessageContext with_transport(TransportContext value) &&;
  [[nodiscard]] MessageContext with_timing(const TimingContext& value) const&;
  [[nodiscard]] MessageContext with_timing(const TimingContext& value) &&;

  /// The context of the answer: reversed direction, same session, transport and connection, its own
  /// times.
  [[nodiscard]] MessageContext for_response(const TimingContext& response_timing) const;
  [[nodiscard]] MessageContext for_response(const core::Clock& clock) const;
};

/// For logs: names and times, no header values, of the session id the first 8 characters.
void to_json(nlohmann::json& out, const MessageContext& context);

}  // namespace league::rpc
