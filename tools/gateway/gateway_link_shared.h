#pragma once

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/gateway/gateway_link.h"

namespace league::tools::gateway {

/// What a client has set in its session with a backend, so that it can be set again in another one:
/// its log level and the resources to which it has subscribed. Not thread-safe.
class GatewaySessionState {
 public:
  /// Notes a request that the backend has answered with a result; ignores those that set nothing.
  void note(const rpc::Request& request);
  struct Setting {
    std::string method;
    nlohmann::json params;
  };
  /// The requests that restore all of this.
  [[nodiscard]] std::vector<Setting> settings() const;

 private:
  nlohmann::json level_;  ///< null: never set
  std::set<std::string> subscriptions_;  ///< URIs
};

/// Can outlive the link if a completion still holds it.
struct GatewayLink::Shared : std::enable_shared_from_this<Shared> {
  using SessionPtr = std::shared_ptr<mcp::client::ClientSession>;
  using Steady = core::Clock::Steady;
  using Ready = std::function<void(core::Result<SessionPtr>)>;

  Shared(const mcp::client::SessionTools& tools_in, audit::record::RecordSink& log_in,
         GatewayLinkOptions options_in)
      : tools(tools_in), log(log_in), options(std::move(options_in)), delay(options.first_delay) {}

  /// Calls `ready` with a session; waits for a lost backend, but not beyond `deadline`.
  void with_session(Steady deadline, Ready ready);
  void attempt_after(Steady::duration pause);
  void attempt();
  void begin(const SessionPtr& fresh);
  void on_connected(const SessionPtr& candidate, core::Result<mcp::client::Negotiated> result);
  void on_lost(const core::Error& why);
  [[nodiscard]] SessionPtr make_session();
  [[nodiscard]] core::Error scrubbed(const core::Error& error) const;
  [[nodiscard]] GatewayAnswer failed(const rpc::Id& id, const core::Error& why) const;
  void say(const std::string& what) const {
    if (options.on_change) options.on_change(what);
  }
  void run(const std::shared_ptr<const GatewayCall>& call, const std::shared_ptr<Running>& running,
           const SessionPtr& there, const Answered& answered);
  [[nodiscard]] GatewayAnswer answer_of(const GatewayCall& call, mcp::client::SessionAnswer answer,
                                        const std::optional<core::Error>& fault) const;
  void record(audit::record::Direction direction, audit::record::Kind kind, const GatewayCall& call,
              const rpc::MessageContext& context, std::shared_ptr<const std::string> body,
              const std::optional<core::Error>& fault) const;

  /// Restores the settings of the client in a new session.
  void restore(const SessionPtr& there);
  void note_setting(const GatewayCall& call, const GatewayAnswer& given);

  const mcp::client::SessionTools tools;
  audit::record::RecordSink& log;
  const GatewayLinkOptions options;
  mutable std::mutex mutex;  // never held during calls of others
  bool is_closed = false;
  SessionPtr session;  ///< ready, or being connected
  bool is_ready = false;
  std::vector<Ready> waiting;
  std::optional<core::Error> failure;  ///< of the last attempt
  mcp::client::ClientSession::Denial denial;  ///< of the last attempt
  Steady next_attempt{};
  bool is_attempt_due = false;  ///< the timer will start it
  Steady connected_at{};
  GatewaySessionState state;
  std::chrono::milliseconds delay;
};

/// A call between the client and its session.
struct GatewayLink::Running {
  std::mutex mutex;
  std::shared_ptr<mcp::client::ClientSession> session;
  mcp::client::ClientSession::RequestId id = 0;
  bool is_cancelled = false;
};

}  // namespace league::tools::gateway
