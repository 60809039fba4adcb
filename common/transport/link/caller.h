#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/rpc/delivery.h"
#include "common/rpc/id.h"
#include "common/transport/link/endpoint.h"

namespace league::transport {

/// Calls of different kinds never wait for each other's threads (docs/architecture.md).
enum class Budget {
  kGame,  ///< referee → player, referee → manager: what a match waits for
  kBroadcast,  ///< what nobody waits for
  kControl,  ///< registration, queries, pings
};

/// One JSON-RPC request to one peer. Its context says where it goes once it is in the log
/// (context_of_call).
struct OutboundCall : rpc::Delivery {
  Endpoint endpoint{};
  core::Clock::Steady deadline{};  ///< absolute: covers waiting, connecting, sending and receiving
  Budget budget = Budget::kControl;
  /// Further headers, where the transport is HTTP.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// Of the request in `bytes`, for transports on which answers come in any order; null: HTTP only.
  rpc::Id id{};
};

/// What is known of the way of a call before it is made: transport, address, and over HTTP method
/// and path. Which connection it takes stands in the context of its outcome.
[[nodiscard]] rpc::MessageContext context_of_call(const Endpoint& endpoint,
                                                  const core::Clock& clock);

/// How a call ended: an error (kTimeout, kConnectionError, kReplyTooLarge, kShuttingDown), or an
/// answer with any status, whose body may be empty.
struct CallOutcome : rpc::Delivery {
  std::optional<core::Error> error = std::nullopt;
  int http_status = 0;  ///< 0 where the transport has none
  std::chrono::nanoseconds elapsed{};
  /// When the last byte of the request went to the system; nothing before, or where that is
  /// unknown.
  std::optional<core::Clock::Steady> sent_at = std::nullopt;
  /// Of an HTTP answer that refuses (its `WWW-Authenticate`), where the caller keeps them.
  std::shared_ptr<const rpc::HeaderMap> refusal_headers = nullptr;
  /// Where the caller frames requests anew (a session of MCP): request and answer as they were on
  /// the wire, for the log. Empty: as they were given and as `bytes` are.
  rpc::SharedText wire_request{};
  rpc::SharedText wire_answer{};
};

/// Sends requests to peers. Thread-safe. The completion runs exactly once, on a thread of the
/// caller or, for a call that is refused at once, on the calling thread; it must be short and may
/// call again.
class Caller {
 public:
  using Completion = std::function<void(CallOutcome)>;

  virtual ~Caller() = default;
  virtual void call(OutboundCall call, Completion completion) = 0;
};

}  // namespace league::transport
