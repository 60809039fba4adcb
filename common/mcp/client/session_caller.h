#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "common/mcp/client/client_session.h"
#include "common/transport/link/caller.h"

namespace league::mcp {

struct SessionCallerOptions {
  ClientIdentity client = {};
  std::chrono::milliseconds longest_probe = kLongestProbe;  ///< as SessionOptions
  /// A server with which there was no agreement is left alone for so long.
  std::chrono::milliseconds refusal_memory{30'000};
  /// Sessions kept at once; the least recently used one that is idle is closed.
  std::size_t max_sessions = 4096;
  /// A child may take so long to come up, and its calls fail until then.
  std::chrono::milliseconds start_up{12'000};
  /// How long the destructor waits for children to end.
  std::chrono::milliseconds farewell{1800};
};

/// A Caller for plain MCP servers of any transport: requests go through a session with the
/// endpoint, which is negotiated when it is first needed, kept, and made again when it is lost. A
/// negotiation takes at most half of the time of the call that needs it; that with a child, which
/// has to be loaded first, goes on when its calls have failed. Thread-safe.
class SessionCaller final : public transport::Caller {
 public:
  /// `tools` outlive the caller.
  explicit SessionCaller(const SessionTools& tools, SessionCallerOptions options = {});
  /// Closes all sessions; their calls end with kShuttingDown. Not on a thread of a connection.
  ~SessionCaller() override;
  SessionCaller(const SessionCaller&) = delete;
  SessionCaller& operator=(const SessionCaller&) = delete;

  /// `call.bytes` is one JSON-RPC request with the id `call.id`; the answer comes with the same id.
  void call(transport::OutboundCall call, Completion completion) override;
  /// True when the last attempt to come to terms with this server failed though it could be
  /// reached: it is no MCP server.
  [[nodiscard]] bool is_refused(const transport::Endpoint& endpoint) const;
  /// is_refused as a function that may outlive the caller.
  [[nodiscard]] std::function<bool(const transport::Endpoint&)> refusals() const;
  /// Sessions there are.
  [[nodiscard]] std::size_t sessions() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::mcp
