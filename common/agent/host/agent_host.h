#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/agent/host/agent_listener.h"
#include "common/agent/host/port_bus.h"
#include "common/agent/identity/own_credentials.h"
#include "common/agent/peers/closable_caller.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/peers/plain_mcp_sessions.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/settings.h"
#include "common/audit/calls/audited_caller.h"
#include "common/audit/calls/audited_handler.h"
#include "common/audit/log/audit_log.h"
#include "common/core/timer.h"
#include "common/envelope/message_schemas.h"
#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/front/http_server.h"
#include "common/transport/link/budgeted_handler.h"
#include "common/transport/link/event_loop.h"

namespace league::agent {

struct AgentHostOptions {
  std::optional<std::filesystem::path> schema_directory = std::nullopt;  ///< nothing: built in
  std::filesystem::path child_logs = "logs/children";  ///< what children write on stderr
  std::optional<BusAccess> bus = std::nullopt;  ///< nothing: the program is on no bus
};

/// What all agents of one process share: clock, timer, schemas, the HTTP event loop and the HTTP
/// caller.
class AgentHost {
 public:
  /// Fails when the schemas of `schema_directory` are wrong or the system refuses what a server
  /// needs.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentHost>> create(
      const Settings& settings, const AgentHostOptions& options = {});
  ~AgentHost();

  [[nodiscard]] const core::Clock& clock() const { return clock_; }
  [[nodiscard]] core::Timer& timer() { return *timer_; }
  [[nodiscard]] const envelope::MessageSchemas& schemas() const { return schemas_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] transport::EventLoop& loop() { return *loop_; }
  [[nodiscard]] transport::HttpRuntime& runtime() { return *runtime_; }
  [[nodiscard]] transport::Caller& caller() { return *caller_; }
  /// Null where the program is on no bus.
  [[nodiscard]] transport::Bus* bus() { return bus_ ? &bus_->bus() : nullptr; }
  /// Whether streams can be asked for; whether the broker keeps any is found out then. False where
  /// the credentials say that it keeps none.
  [[nodiscard]] bool has_streams() const { return bus_ != nullptr && bus_->has_streams(); }
  /// Where the program is on the bus; null where it is on none.
  [[nodiscard]] HostBus* on_bus() { return bus_.get(); }
  [[nodiscard]] core::RandomSource& random() { return random_; }
  /// True once, for the first of the process's agents that stops.
  [[nodiscard]] bool is_first_to_stop() { return !is_stopping_.exchange(true); }
  /// A caller for one agent of this process, which has the session on the bus; plain `caller` where
  /// there is no bus. Lives as long as the host.
  [[nodiscard]] transport::Caller& caller_for(const std::optional<transport::BusSession>& session);
  /// With peers that are plain MCP servers.
  [[nodiscard]] PlainMcpSessions& sessions() { return *sessions_; }
  [[nodiscard]] const std::shared_ptr<audit::LogWriter>& log_writer() { return log_writer_; }

  /// Ends calls and timers, in the order in which nothing reaches for what is gone. Stop the
  /// servers first; services must still be there. A second call does nothing.
  void shut_down();

 private:
  AgentHost(const Settings& settings, envelope::MessageSchemas schemas);

  const Settings settings_;
  core::SystemClock clock_;
  envelope::MessageSchemas schemas_;
  std::shared_ptr<audit::LogWriter> log_writer_;  ///< of all conversation logs of the process
  std::unique_ptr<transport::EventLoop> loop_;  ///< of streams, WebSockets and lines, both ways
  std::unique_ptr<transport::HttpRuntime> runtime_;
  core::CryptoRandom random_;
  std::unique_ptr<core::ThreadTimer> timer_;
  std::unique_ptr<HostBus> bus_;
  std::atomic<bool> is_stopping_{false};
  std::unique_ptr<transport::EndpointCaller> caller_;
  std::vector<std::unique_ptr<ClosableCaller>> session_callers_;
  std::unique_ptr<PlainMcpSessions> sessions_;
};

/// Where one agent stands: its conversation log, its way to its peers, and its server, all
/// recorded.
class AgentPort {
 public:
  struct Options {
    std::filesystem::path log;  ///< file of the conversation log
    std::string agent;  ///< `player:alpha`, `league_manager`
    audit::LogLeague league = {};
    std::filesystem::path logs = {};  ///< directory of all logs; see audit::LogArchive
    envelope::Mode mode = envelope::Mode::kOpen;  ///< towards the peers it calls
    std::filesystem::path log_key =
        {};  ///< file of the key that seals the log; empty: a passing one
    /// Where the agent's session on the bus is kept; empty: a passing one. The credentials' comes
    /// first.
    std::filesystem::path session_file = {};
    /// See audit::AuditLogOptions.
    std::function<void(const audit::Record&)> on_record = {};
  };
  /// `host` outlives the port.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentPort>> open(AgentHost& host,
                                                                     Options options);
  ~AgentPort();

  /// Listens; `handler` outlives the port or `stop_serving`. What one sender may ask is bounded by
  /// the settings' budgets.
  [[nodiscard]] core::Result<void> serve(ListenOptions options, transport::MessageHandler& handler);
  /// What senders may ask from now on, where it serves.
  void set_budgets(const transport::RequestBudgetOptions& budgets);
  /// The agent's token: who shows it, or a match credential of it, is no stranger from now on.
  void set_token(core::AuthToken token) { credentials_.set_token(std::move(token)); }
  /// Beside that, or in place of it, serves the agent's session on the bus.
  [[nodiscard]] core::Result<void> serve_session(transport::MessageHandler& handler,
                                                 const std::string& manager_url);
  /// Besides, hears what the league tells everybody on the bus, as far as it is of `types`; keeps
  /// it until `trust_events`. Does nothing where it hears that league already, or is on no bus.
  [[nodiscard]] core::Result<void> hear_events(transport::MessageHandler& handler,
                                               const std::string& league_id,
                                               std::set<envelope::MessageType> types);
  /// Whose signature the events must have. Where the manager signs none, they are not listened to.
  void trust_events(const Identity& identity);
  /// The manager's side of the bus: all sessions of the league.
  [[nodiscard]] core::Result<void> serve_sessions(transport::MessageHandler& handler,
                                                  transport::BusSessionsOptions options);
  /// Of the manager: listens to the session of an agent that is known from before.
  void expect_session(const std::string& contact_endpoint);
  /// `nats:SESSION`; empty where the program is on no bus.
  [[nodiscard]] std::string session_url() const;
  /// Streams of the bus, asked for with the port's session and the host's `streams_bus`. Made at
  /// the first call; null where the host has none, or the bus is closed. Ends with
  /// `stop_serving`, with what is open in it. Thread-safe before that.
  [[nodiscard]] transport::JetStream* streams();
  /// To stop several ports, begin with all of them: then they all stop within the same time.
  void begin_stop();
  void stop_serving();
  [[nodiscard]] std::uint16_t port() const;

  [[nodiscard]] PeerClient& peers() { return *peers_; }
  [[nodiscard]] audit::AuditLog& log() { return *log_; }

 private:
  AgentPort(AgentHost& host, std::unique_ptr<audit::AuditLog> log, envelope::Mode mode,
            std::optional<transport::BusSession> session);
  transport::MessageHandler& audited(transport::MessageHandler& handler);

  AgentHost& host_;
  const std::optional<transport::BusSession> session_;
  std::unique_ptr<audit::AuditLog> log_;
  audit::AuditedCaller audited_caller_;
  audit::AuditedCaller audited_sessions_;
  std::unique_ptr<PeerClient> peers_;
  std::unique_ptr<ExceptionGuard> guard_;
  std::unique_ptr<audit::AuditedHandler> audited_handler_;
  OwnCredentials credentials_;
  std::shared_ptr<transport::RateLimiter> limiter_;
  std::unique_ptr<transport::BudgetedHandler> budgeted_handler_;
  std::unique_ptr<AgentListener> listener_;
  std::unique_ptr<PortBus> on_bus_;  ///< null where the program is on no bus
};

}  // namespace league::agent
