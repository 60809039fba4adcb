#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/mcp/client/client_session.h"
#include "common/rpc/context.h"
#include "common/rpc/http_headers.h"
#include "common/rpc/message.h"
#include "common/rpc/message_notes.h"
#include "common/transport/link/message_handler.h"

namespace league::tools::gateway {

/// One request of a client to the backend.
struct GatewayCall {
  rpc::Request request;
  rpc::MessageContext context;  ///< the context of the client's request, with its headers
  core::Clock::Steady deadline;  ///< of a subscription: until it must be acknowledged
  bool is_modern = false;  ///< the client speaks 2026-07-28
  /// The session or connection in which the client has completed the handshake; empty: it has not.
  std::string owner = {};
  std::string correlation_id;  ///< in the records of both sides
  /// Receives notifications about this request before its answer; null if the client cannot receive
  /// any.
  std::shared_ptr<transport::link::PeerChannel> channel = nullptr;
  /// Receives requests of the backend to the client during this call; null if the client cannot be
  /// asked.
  mcp::client::TakeServerRequest on_request = nullptr;
};

/// A client that has completed the handshake, for which a backend can keep state.
struct GatewayClient {
  std::string owner;  ///< its session or connection
  nlohmann::json capabilities = nlohmann::json::object();  ///< as declared in the handshake
  /// Receives notifications of the backend for this client only. Called on the backend's thread;
  /// must be fast.
  std::function<void(const rpc::Notification&)> on_notification = nullptr;
  /// Receives requests of the backend to this client, outside the stream of one of its calls.
  mcp::client::TakeServerRequest on_request = nullptr;
  /// Called when the backend has dropped the client to make room for others.
  std::function<void()> on_forgotten = nullptr;
};

/// The answer to a client.
struct GatewayAnswer {
  GatewayAnswer(rpc::Response response_in) : response(std::move(response_in)) {}  // NOLINT: is one
  rpc::Response response;  ///< with the id of the client's request
  int http_status = 200;
  std::vector<std::pair<std::string, std::string>> headers = {};
};

/// The backend of a gateway. Thread-safe.
class GatewayBackend {
 public:
  /// Runs once, unless the call was cancelled.
  using Answered = std::function<void(GatewayAnswer)>;
  /// Cancels a call whose answer is no longer needed; does nothing after its answer. May be empty.
  using Cancel = std::function<void()>;

  virtual ~GatewayBackend() = default;
  /// `answered` runs on any thread, perhaps within the call.
  [[nodiscard]] virtual Cancel forward(GatewayCall call, Answered answered) = 0;
  /// The result of `initialize` for this client, except protocolVersion: capabilities, serverInfo,
  /// instructions. Runs once, with a response that carries the request's id.
  virtual void describe(const GatewayCall& call, Answered answered) = 0;
  /// Called after a client's handshake. A further handshake by the same owner discards the state of
  /// the previous one. Fails with kOverloaded.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): others keep it
  [[nodiscard]] virtual core::Result<void> begin(GatewayClient /*client*/) { return {}; }
  /// Called when such a client has gone.
  virtual void end(const std::string& /*owner*/) {}
  /// Takes a notification from such a client.
  virtual void notify(const std::string& /*owner*/, const rpc::Notification& /*note*/) {}
  /// Whether a method other than tools/list and tools/call goes to the backend.
  [[nodiscard]] virtual bool takes(std::string_view method) const = 0;
  /// Whether a call ends when its client's connection is lost. False for shared backends, because a
  /// lost connection is no cancellation (MCP, Streamable HTTP).
  [[nodiscard]] virtual bool ends_with_client() const = 0;
};

/// Lets a backend's refusal that concerns the client (HTTP 401 with `WWW-Authenticate`, 403, 429
/// and 503 with `Retry-After`) reach it: as status and header field, and in the error's `data` for
/// transports without these.
void pass_on_refusal(int http_status, const rpc::HeaderMap* headers, GatewayAnswer& answer);

/// `gateway: WHAT` as the answer to a request that the backend did not answer.
[[nodiscard]] rpc::Response gateway_failure(const rpc::Id& id, const std::string& what,
                                            nlohmann::json data = nullptr);

}  // namespace league::tools::gateway
