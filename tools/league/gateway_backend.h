#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/core/clock.h"
#include "common/rpc/context.h"
#include "common/rpc/message.h"
#include "common/rpc/message_notes.h"
#include "common/transport/message_handler.h"

namespace league::tools {

/// One request of a client on its way to the backend.
struct GatewayCall {
  rpc::Request request;
  rpc::MessageContext context;  ///< how the client's request came, with its headers
  core::Clock::Steady deadline;
  std::string correlation_id;  ///< in the records of both sides
  /// Takes news about this request before its answer; null where the client cannot have any.
  std::shared_ptr<transport::PeerChannel> channel;
};

/// What a gateway stands in front of. Thread-safe.
class GatewayBackend {
 public:
  /// The response has the id of the client's request. Runs once, unless the call was cancelled.
  using Answered = std::function<void(rpc::Response)>;
  /// Ends a call nobody waits for any more; does nothing after its answer. May be empty.
  using Cancel = std::function<void()>;

  virtual ~GatewayBackend() = default;
  /// `answered` runs on any thread, perhaps within the call.
  [[nodiscard]] virtual Cancel forward(GatewayCall call, Answered answered) = 0;
  /// The result of `initialize` as clients get it, but for protocolVersion: capabilities,
  /// serverInfo, instructions. Runs once, with a response that carries `request`'s id.
  virtual void describe(const rpc::Request& request, core::Clock::Steady deadline,
                        Answered answered) = 0;
  /// Whether a method besides tools/list and tools/call goes to the backend.
  [[nodiscard]] virtual bool takes(std::string_view method) const = 0;
  /// Whether a call is ended when its client has gone without saying so. Where backends are shared
  /// it is not: a lost connection is no cancellation (MCP, Streamable HTTP).
  [[nodiscard]] virtual bool ends_with_client() const = 0;
};

/// `gateway: WHAT` as the answer to a request that the backend did not answer.
[[nodiscard]] rpc::Response gateway_failure(const rpc::Id& id, const std::string& what,
                                            nlohmann::json data = nullptr);

}  // namespace league::tools
