#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "common/mcp/client/client_session.h"
#include "common/transport/link/caller.h"

namespace league::mcp::client {

struct SessionCallerOptions {
  ClientIdentity client = {};
  std::chrono::milliseconds longest_probe = kLongestProbe;  ///< as SessionOptions
  /// How long a server is not tried again after negotiation with it failed.
  std::chrono::milliseconds refusal_memory{30'000};
  /// For a session beyond this number, the least recently used sessions without a call are closed.
  /// If all have calls, there are more sessions until a later one closes those that have none.
  std::size_t max_sessions = 4096;
  /// How long a child process may take to start; calls whose deadline comes first fail.
  std::chrono::milliseconds start_up{12'000};
  /// How long the destructor waits for children to end.
  std::chrono::milliseconds farewell{1800};
};

/// A Caller for plain MCP servers on any transport: requests go through a session with the
/// endpoint, which is negotiated at the first call, kept, and renewed if it is lost. A negotiation
/// takes at most half of the time of the call that needs it; the negotiation with a child process,
/// which has to be loaded first, continues even if its calls have failed. Thread-safe.
class SessionCaller final : public transport::link::Caller {
 public:
  /// The objects in `tools` must outlive the caller.
  explicit SessionCaller(const SessionTools& tools, SessionCallerOptions options = {});
  /// Closes all sessions, and waits until their calls have ended with kShuttingDown. Must not run
  /// on a connection's thread or in a completion.
  ~SessionCaller() override;
  SessionCaller(const SessionCaller&) = delete;
  SessionCaller& operator=(const SessionCaller&) = delete;

  /// `call.bytes` is one JSON-RPC request with the id `call.id`; the answer comes with the same id.
  void call(transport::link::OutboundCall call, Completion completion) override;
  /// A function that says whether the last negotiation with this server failed although the server
  /// could be reached: it is not an MCP server. It may outlive the caller.
  [[nodiscard]] std::function<bool(const transport::link::Endpoint&)> refusals() const;
  /// The number of sessions. Must not be called in a completion.
  [[nodiscard]] std::size_t sessions() const;

 private:
  class RefusedServers;
  struct Peer;
  class PeerUse;
  using PeerPtr = std::shared_ptr<Peer>;
  using SessionPtr = std::shared_ptr<ClientSession>;
  using Steady = core::Clock::Steady;

  // All of these run on the executor of the scope.
  task::Task<void> serve(transport::link::OutboundCall call, Completion completion);
  task::Task<transport::link::CallOutcome> converse(const transport::link::OutboundCall* call);
  task::Task<core::Result<SessionPtr>> session_with(PeerPtr peer,
                                                    const transport::link::OutboundCall* call);
  task::Task<void> negotiate(PeerPtr peer, std::string url, Steady deadline);
  PeerPtr peer_at(const std::string& url);
  void make_room();
  void make_session(Peer& peer, const transport::link::Endpoint& endpoint);

  template <typename T>
  [[nodiscard]] T wait(std::function<T()> function) const;

  const SessionTools tools_;
  const SessionCallerOptions options_;
  const std::shared_ptr<RefusedServers> refused_;
  bool is_closed_ = false;
  std::unordered_map<std::string, PeerPtr> peers_;
  task::Scope scope_{task::Executor(), nullptr};  // last: its tasks use everything above
};

}  // namespace league::mcp::client
