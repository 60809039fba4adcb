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

namespace league::transport::caller {
class CallBatch;
}

namespace league::transport::link {

/// Calls of different kinds use separate limits, so that none waits for calls of another kind
/// (docs/architecture.md).
enum class Budget {
  kGame,  ///< referee → player, referee → manager: what a match waits for
  kBroadcast,  ///< messages whose answer nothing waits for
  kControl,  ///< registration, queries, pings
};

/// One JSON-RPC request to one peer. Its context says where it goes, once it has been logged
/// (context_of_call).
struct OutboundCall : rpc::Delivery {
  Endpoint endpoint{};
  core::Clock::Steady deadline{};  ///< absolute: covers waiting, connecting, sending and receiving
  Budget budget = Budget::kControl;
  /// Additional header fields, for HTTP only.
  std::vector<std::pair<std::string, std::string>> headers = {};
  /// The id of the request in `bytes`, for transports whose answers arrive in any order; null: HTTP
  /// only.
  rpc::Id id{};
  bool is_repeatable = false;  ///< as in OutboundMessage: true for messages of the league
  std::shared_ptr<caller::CallBatch> batch = nullptr;  ///< to send it together with others
};

/// What is known about a call's transport before it is made: the type, the address, and for HTTP
/// the method and path. The context of the outcome also contains the connection that was used.
[[nodiscard]] rpc::MessageContext context_of_call(const Endpoint& endpoint,
                                                  const core::Clock& clock);

/// How a call ended: an error (kTimeout, kConnectionError, kReplyTooLarge, kShuttingDown), or an
/// answer with any status, whose body may be empty.
struct CallOutcome : rpc::Delivery {
  std::optional<core::Error> error = std::nullopt;
  int http_status = 0;  ///< 0 where the transport has none
  std::chrono::nanoseconds elapsed{};
  /// When the last byte of the request was passed to the system; nothing if it was not, or if that
  /// is unknown.
  std::optional<core::Clock::Steady> sent_at = std::nullopt;
  /// The header fields of an HTTP answer that refuses (such as `WWW-Authenticate`), if the caller
  /// keeps them.
  std::shared_ptr<const rpc::HeaderMap> refusal_headers = nullptr;
  /// If the caller frames requests itself (an MCP session): request and answer as they were sent
  /// and received, for the log. Empty: as given, and as in `bytes`.
  rpc::SharedText wire_request{};
  rpc::SharedText wire_answer{};
  /// Set where calls are logged: writes the answer into the log, with its notes as they are now.
  /// For a completion that acts on the answer, so that nothing that follows from the answer is
  /// logged before it. Otherwise the answer is written when the completion returns; later it does
  /// nothing.
  std::function<void()> record = nullptr;

  void write_record() const {
    if (record) record();
  }
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

}  // namespace league::transport::link
