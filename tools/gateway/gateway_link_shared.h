#pragma once

#include <memory>
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

/// A link, as long as it has tasks. All of it runs on the executor of the scope.
struct GatewayLink::Shared : std::enable_shared_from_this<Shared> {
  using SessionPtr = std::shared_ptr<mcp::client::ClientSession>;
  using Steady = core::Clock::Steady;

  Shared(const mcp::client::SessionTools& tools_in, task::Scope& scope_in,
         audit::record::RecordSink& log_in, GatewayLinkOptions options_in)
      : tools(tools_in),
        scope(scope_in),
        log(log_in),
        options(std::move(options_in)),
        delay(options.first_delay) {}

  // The session (gateway_link_session.cpp).
  /// A session. Refuses at once if the next attempt begins after `deadline`; an attempt that is
  /// under way is awaited.
  task::Task<core::Result<SessionPtr>> session_until(Steady deadline);
  /// Connects when a session is wanted, keeps it until it is lost, and begins again. Cancelled by
  /// stop().
  static task::Task<void> live(std::shared_ptr<Shared> self);
  /// One attempt, which opens `connected` either way. True: a session is ready.
  task::Task<bool> connect();
  void want();
  void delay_next_attempt(core::Error why);
  void stop();
  [[nodiscard]] SessionPtr make_session();
  /// Restores the settings of the client in a new session.
  void restore(const SessionPtr& there);
  [[nodiscard]] core::Error scrubbed(const core::Error& error) const;
  void say(const std::string& what) const {
    if (options.on_change) options.on_change(what);
  }

  // Calls (gateway_link.cpp).
  enum class Wish { kAnswer, kDescription };
  static task::Task<void> serve(std::shared_ptr<Shared> self, GatewayCall call, Wish wish,
                                Answered answered);
  task::Task<GatewayAnswer> converse(GatewayCall call, SessionPtr there);
  [[nodiscard]] GatewayAnswer failed(const rpc::Id& id, const core::Error& why) const;
  [[nodiscard]] GatewayAnswer answer_of(const GatewayCall& call, mcp::client::SessionAnswer answer,
                                        const std::optional<core::Error>& fault) const;
  void record(audit::record::Direction direction, audit::record::Kind kind, const GatewayCall& call,
              const rpc::MessageContext& context, std::shared_ptr<const std::string> body,
              const std::optional<core::Error>& fault) const;

  const mcp::client::SessionTools tools;
  task::Scope& scope;
  audit::record::RecordSink& log;
  const GatewayLinkOptions options;
  bool is_closed = false;
  task::Spawned life;
  bool is_alive = false;  ///< live() runs
  bool is_wanted = false;
  task::Signal<bool> wanted;  ///< opened when a session is wanted
  task::Signal<core::Result<SessionPtr>>
      connected;  ///< opened with a session, or why there is none
  std::optional<core::Error> loss;  ///< why the session was lost
  task::Signal<bool> lost;
  SessionPtr session;  ///< ready, or being connected
  bool is_ready = false;
  std::optional<core::Error> failure;  ///< of the last attempt
  mcp::client::ClientSession::Denial denial;  ///< of the last attempt
  Steady next_attempt{};
  GatewaySessionState state;
  std::chrono::milliseconds delay;
};

}  // namespace league::tools::gateway
