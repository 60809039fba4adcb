#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/core/clock.h"
#include "common/rpc/session_id.h"
#include "common/rpc/transport_context.h"

namespace league::rpc {

/// Which way a message flows. A notification looks alike in both directions, so this travels beside
/// it. Source: the MessageEnvelope design (docs/decisions.md).
enum class MessageDirection : std::uint8_t {
  kClientToServer,  ///< the caller's requests and notifications
  kServerToClient,  ///< answers, and notifications of the called side
  kInternal,  ///< made inside this process, never forwarded
  kUnknown,  ///< nobody has said yet
};

/// The direction of an answer; internal and unknown stay what they are.
[[nodiscard]] constexpr MessageDirection reverse(MessageDirection direction) {
  switch (direction) {
    case MessageDirection::kClientToServer:
      return MessageDirection::kServerToClient;
    case MessageDirection::kServerToClient:
      return MessageDirection::kClientToServer;
    default:
      return direction;
  }
}

/// `client_to_server`, `server_to_client`, `internal` or `unknown`: how logs name it.
[[nodiscard]] constexpr std::string_view to_string(MessageDirection direction) {
  constexpr std::array<std::string_view, 4> kNames = {"client_to_server", "server_to_client",
                                                      "internal", "unknown"};
  static_assert(kNames.size() == static_cast<std::size_t>(MessageDirection::kUnknown) + 1);
  return kNames[static_cast<std::size_t>(direction)];
}

/// When a message came or went, on both clocks. A value.
struct TimingContext {
  core::Clock::Steady created{};
  core::UtcTimestamp system_time;  ///< the same instant for people, with microseconds

  [[nodiscard]] static TimingContext now(const core::Clock& clock) {
    return {clock.steady_now(), clock.utc_now()};
  }
  bool operator==(const TimingContext&) const = default;
};

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
