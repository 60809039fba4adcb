#pragma once

#include <cstdint>
#include <string_view>

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
  switch (direction) {
    case MessageDirection::kClientToServer:
      return "client_to_server";
    case MessageDirection::kServerToClient:
      return "server_to_client";
    case MessageDirection::kInternal:
      return "internal";
    default:
      return "unknown";
  }
}

}  // namespace league::rpc
