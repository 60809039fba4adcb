#pragma once

#include <memory>

#include "common/agent/peers/peer_client.h"
#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/mcp/client/session_caller.h"
#include "common/transport/caller/closable_caller.h"
#include "common/transport/line/line_connector.h"
#include "common/transport/link/event_loop.h"

namespace league::agent::peers {

/// The sessions of one process with peers that are plain MCP servers, over any transport.
/// Thread-safe.
class PlainMcpSessions {
 public:
  /// All references must outlive this object. `lines` is for sockets and child processes.
  PlainMcpSessions(transport::link::EventLoop& loop, core::Timer& timer, const core::Clock& clock,
                   const transport::line::SubprocessOptions& lines,
                   std::chrono::milliseconds longest_probe = mcp::client::kLongestProbe);

  [[nodiscard]] transport::link::Caller& caller() { return gate_; }
  /// For PlainMcp::is_refused.
  [[nodiscard]] std::function<bool(const transport::link::Endpoint&)> refusals() const {
    return refusals_;
  }
  /// Ends running calls and all sessions; later calls end with kShuttingDown.
  void close() { gate_.close(); }

 private:
  std::shared_ptr<transport::link::Connector> connector_;
  std::function<bool(const transport::link::Endpoint&)> refusals_;
  transport::caller::ClosableCaller gate_;
};

}  // namespace league::agent::peers
