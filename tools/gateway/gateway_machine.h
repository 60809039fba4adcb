#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/core/result.h"
#include "common/rpc/message.h"

namespace league::tools::gateway {

/// The state of one request to a server that uses MCP's transport of 2024. Source: the design of a
/// proxy for such servers (docs/decisions.md).
enum class GatewayState : std::uint8_t {
  kWaitEndpoint,  ///< the stream is being opened; its first event names where to POST
  kInitializing,  ///< `initialize` is sent, its answer awaited
  kInitialized,  ///< the answer came; `notifications/initialized` is on its way
  kWaitResponse,  ///< the client's request is sent, its answer awaited
  kDone,
  kFailed,
};

/// `wait_endpoint`, `initializing`, `initialized`, `wait_response`, `done` or `failed`.
[[nodiscard]] std::string_view gateway_state_name(GatewayState state);

/// Drives one `tools/list` or `tools/call` through a channel of its own: endpoint → initialize →
/// notification → request → answer. Pure: takes events and returns actions; ignores everything
/// after the end. Not thread-safe.
class GatewayMachine {
 public:
  /// The next actions, in this order.
  struct Send {
    std::string bytes;
    bool awaits_receipt = false;  ///< report on_received when the server has taken it
  };
  /// Pass a notification of the server about this request on to the client, before its answer.
  struct Forward {
    std::string bytes;
  };
  /// Answer the client, and close the channel.
  struct Answer {
    rpc::Response response;
    int http_status = 0;  ///< status of a refusal by the server; 0: none
  };
  using Action = std::variant<Send, Forward, Answer>;
  using Actions = std::vector<Action>;

  /// `request` is the client's; the answer has its id.
  explicit GatewayMachine(rpc::Request request);

  /// The stream is open and has named its endpoint.
  [[nodiscard]] Actions on_endpoint();
  /// The stream could not be opened (no answer: status 0; a status; no events; a foreign endpoint),
  /// or the server did not accept a message.
  [[nodiscard]] Actions on_refused(const core::Error& why, int http_status);
  [[nodiscard]] Actions on_message(std::string_view bytes);
  /// The server has accepted the message with `awaits_receipt`.
  [[nodiscard]] Actions on_received();
  [[nodiscard]] Actions on_closed(const core::Error& why);
  [[nodiscard]] Actions on_timeout();
  /// The client does not want the answer any more; the channel is closed next.
  [[nodiscard]] Actions on_cancel() const;

  [[nodiscard]] GatewayState state() const { return state_; }
  [[nodiscard]] bool has_ended() const {
    return state_ == GatewayState::kDone || state_ == GatewayState::kFailed;
  }

 private:
  [[nodiscard]] Actions on_response(const rpc::Response& response);
  [[nodiscard]] Actions on_initialized(const rpc::Response& response);
  [[nodiscard]] Actions fail(const std::string& what, int http_status = 0);

  /// Remembers what came in place of the answer, for the text of a time-out.
  void note_stray(const rpc::Id& id, std::string_view what);

  rpc::Request request_;
  std::string stray_;  ///< empty: nothing came
  GatewayState state_ = GatewayState::kWaitEndpoint;
};

}  // namespace league::tools::gateway
