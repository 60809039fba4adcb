#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tools/gateway/gateway_link.h"
#include "tools/gateway/gateway_session_state.h"

namespace league::tools::gateway {

/// Can outlive the link if a completion still holds it.
struct GatewayLink::Shared : std::enable_shared_from_this<Shared> {
  using SessionPtr = std::shared_ptr<mcp::ClientSession>;
  using Steady = core::Clock::Steady;
  using Ready = std::function<void(core::Result<SessionPtr>)>;

  Shared(const mcp::SessionTools& tools_in, audit::RecordSink& log_in,
         GatewayLinkOptions options_in)
      : tools(tools_in), log(log_in), options(std::move(options_in)), delay(options.first_delay) {}

  /// Calls `ready` with a session; waits for a lost backend, but not beyond `deadline`.
  void with_session(Steady deadline, Ready ready);
  void attempt_after(Steady::duration pause);
  void attempt();
  void begin(const SessionPtr& fresh);
  void on_connected(const SessionPtr& candidate, core::Result<mcp::Negotiated> result);
  void on_lost(const core::Error& why);
  [[nodiscard]] SessionPtr make_session();
  [[nodiscard]] core::Error scrubbed(const core::Error& error) const;
  [[nodiscard]] GatewayAnswer failed(const rpc::Id& id, const core::Error& why) const;
  void say(const std::string& what) const {
    if (options.on_change) options.on_change(what);
  }
  void run(const std::shared_ptr<const GatewayCall>& call, const std::shared_ptr<Running>& running,
           const SessionPtr& there, const Answered& answered);
  [[nodiscard]] GatewayAnswer answer_of(const GatewayCall& call, mcp::SessionAnswer answer,
                                        const std::optional<core::Error>& fault) const;
  void record(audit::Direction direction, audit::Kind kind, const GatewayCall& call,
              const rpc::MessageContext& context, std::shared_ptr<const std::string> body,
              const std::optional<core::Error>& fault) const;

  /// Restores the settings of the client in a new session.
  void restore(const SessionPtr& there);
  void note_setting(const GatewayCall& call, const GatewayAnswer& given);

  const mcp::SessionTools tools;
  audit::RecordSink& log;
  const GatewayLinkOptions options;
  mutable std::mutex mutex;  // never held during calls of others
  bool is_closed = false;
  SessionPtr session;  ///< ready, or being connected
  bool is_ready = false;
  std::vector<Ready> waiting;
  std::optional<core::Error> failure;  ///< of the last attempt
  mcp::ClientSession::Denial denial;  ///< of the last attempt
  Steady next_attempt{};
  bool is_attempt_due = false;  ///< the timer will start it
  Steady connected_at{};
  GatewaySessionState state;
  std::chrono::milliseconds delay;
};

/// A call between the client and its session.
struct GatewayLink::Running {
  std::mutex mutex;
  std::shared_ptr<mcp::ClientSession> session;
  mcp::ClientSession::RequestId id = 0;
  bool is_cancelled = false;
};

}  // namespace league::tools::gateway
