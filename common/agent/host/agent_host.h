#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>

#include "common/agent/bus/host_bus.h"
#include "common/agent/host/agent_listener.h"
#include "common/agent/identity/own_credentials.h"
#include "common/agent/peers/peer_client.h"
#include "common/agent/peers/plain_mcp_sessions.h"
#include "common/agent/runtime/exception_guard.h"
#include "common/agent/runtime/settings.h"
#include "common/agent/seats/seat_caller.h"
#include "common/agent/seats/seat_client.h"
#include "common/agent/seats/seat_door.h"
#include "common/agent/seats/seats.h"
#include "common/audit/calls/audited_caller.h"
#include "common/audit/calls/audited_handler.h"
#include "common/audit/log/audit_log.h"
#include "common/core/timer.h"
#include "common/envelope/message_schemas.h"
#include "common/transport/caller/call_batch.h"
#include "common/transport/caller/closable_caller.h"
#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/front/http_server.h"
#include "common/transport/http/batch_handler.h"
#include "common/transport/link/budgeted_handler.h"
#include "common/transport/link/event_loop.h"

namespace league::agent::host {

struct AgentHostOptions {
  std::optional<std::filesystem::path> schema_directory = std::nullopt;  ///< empty: built in
  std::filesystem::path child_logs = "logs/children";  ///< directory for the children's stderr
  bus::BusOptions bus = {};
};

/// What all agents of one process share: clock, timer, schemas, the HTTP event loop and the HTTP
/// caller.
class AgentHost {
 public:
  /// Fails when the schemas of `schema_directory` are wrong or the system refuses what a server
  /// needs.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentHost>> create(
      const runtime::Settings& settings, const AgentHostOptions& options = {});
  ~AgentHost();

  [[nodiscard]] const core::Clock& clock() const { return clock_; }
  [[nodiscard]] core::Timer& timer() { return *timer_; }
  [[nodiscard]] const envelope::MessageSchemas& schemas() const { return schemas_; }
  [[nodiscard]] const runtime::Settings& settings() const { return settings_; }
  [[nodiscard]] transport::link::EventLoop& loop() { return *loop_; }
  [[nodiscard]] transport::front::HttpRuntime& runtime() { return *runtime_; }
  [[nodiscard]] transport::link::Caller& caller() { return *caller_; }
  /// The program's connections to the bus; null if it is on none.
  [[nodiscard]] bus::HostBus* on_bus() const { return bus_.get(); }
  /// URL of the broker while the program's bus cannot be reached; otherwise empty.
  [[nodiscard]] std::string lost_bus() const { return bus_ ? bus_->lost_url() : std::string(); }
  /// For a DelayMeter: measures the broker's answers; null if the program is on no bus.
  [[nodiscard]] std::unique_ptr<runtime::BrokerDelay> broker_delay() {
    return bus_ ? bus_->measure(*timer_, clock_) : nullptr;
  }
  [[nodiscard]] core::RandomSource& random() { return random_; }
  /// True for the first call only: for the first agent of the process that stops.
  [[nodiscard]] bool is_first_to_stop() { return !is_stopping_.exchange(true); }
  /// A caller for one agent of this process, which has this session on the bus; if there is no bus,
  /// simply `caller`. Lives as long as the host.
  [[nodiscard]] transport::link::Caller& caller_for(
      const std::optional<transport::link::BusSession>& session);
  /// The sessions with peers that are plain MCP servers.
  [[nodiscard]] peers::PlainMcpSessions& sessions() { return *sessions_; }
  [[nodiscard]] const std::shared_ptr<audit::log::LogWriter>& log_writer() { return log_writer_; }

  /// Ends calls and timers in an order in which nothing uses what has already been destroyed.
  /// Servers must be stopped before; services must still exist. A second call does nothing.
  void shut_down();

 private:
  AgentHost(const runtime::Settings& settings, envelope::MessageSchemas schemas);

  const runtime::Settings settings_;
  core::SystemClock clock_;
  envelope::MessageSchemas schemas_;
  std::shared_ptr<audit::log::LogWriter>
      log_writer_;  ///< writes all conversation logs of the process
  std::unique_ptr<transport::link::EventLoop>
      loop_;  ///< streams, WebSockets and lines, both directions
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  core::CryptoRandom random_;
  std::unique_ptr<core::ThreadTimer> timer_;
  std::unique_ptr<bus::HostBus> bus_;
  std::atomic<bool> is_stopping_{false};
  std::unique_ptr<transport::caller::EndpointCaller> caller_;
  std::vector<std::unique_ptr<transport::caller::ClosableCaller>> session_callers_;
  std::unique_ptr<peers::PlainMcpSessions> sessions_;
};

/// The connections of one agent: its conversation log, its caller for peers, and its server. All
/// messages are recorded in the log.
class AgentPort {
 public:
  struct Options {
    std::filesystem::path log;  ///< file of the conversation log
    std::string agent;  ///< `player:alpha`, `league_manager`
    audit::log::LogLeague league = {};
    std::filesystem::path logs = {};  ///< directory of all logs; see audit::log::LogArchive
    envelope::Mode mode = envelope::Mode::kOpen;  ///< towards the peers it calls
    std::filesystem::path log_key =
        {};  ///< file of the key that seals the log; empty: a temporary key
    /// File with the agent's session on the bus; empty: a temporary session. A session in the
    /// credentials takes precedence.
    std::filesystem::path session_file = {};
    /// The players that come to us; null: none do. Outlives the port.
    seats::Seats* seats = nullptr;
    /// See audit::log::AuditLogOptions.
    std::function<void(const audit::record::Record&)> on_record = {};
  };
  /// `host` outlives the port.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentPort>> open(AgentHost& host,
                                                                     Options options);
  ~AgentPort();

  /// Listens; `handler` must outlive the port or the call of `stop_serving`. The settings' budgets
  /// limit what each sender may ask.
  [[nodiscard]] core::Result<void> serve(ListenOptions options,
                                         transport::link::MessageHandler& handler);
  /// Takes the seat of a player that the manager cannot call, and comes back to it until
  /// stop_serving. `ended` runs if another program takes the seat over.
  void take_seat(const transport::link::Endpoint& manager, const identity::Identity& identity,
                 transport::link::MessageHandler& handler, seats::SeatClient::Ended ended);
  /// Changes the limits of senders from now on; does nothing if `serve` was not called.
  void set_budgets(const transport::link::RequestBudgetOptions& budgets);
  /// Sets the agent's token: from now on a caller that shows it, or a match credential derived from
  /// it, is not treated as a stranger.
  void set_token(core::AuthToken token) { credentials_.set_token(std::move(token)); }
  /// Serves the agent's session on the bus, in addition to or instead of `serve`.
  [[nodiscard]] core::Result<void> serve_session(transport::link::MessageHandler& handler,
                                                 const std::string& manager_url);
  /// Receives those events of the league on the bus that are of `types`, and keeps them until
  /// `trust_events`. Does nothing if it already listens to this league or the program is on no bus.
  [[nodiscard]] core::Result<void> hear_events(transport::link::MessageHandler& handler,
                                               const std::string& league_id,
                                               std::set<envelope::MessageType> types);
  /// Sets whose signature the events must have. If the manager does not sign events, stops
  /// listening.
  void trust_events(const identity::Identity& identity);
  /// `nats:SESSION`; empty if the program is on no bus.
  [[nodiscard]] std::string session_url() const;
  /// The port's part on the bus; null if the program is on none.
  [[nodiscard]] bus::PortBus* on_bus() const { return on_bus_.get(); }
  /// `handler`, which the log records; one handler only.
  [[nodiscard]] transport::link::MessageHandler& audited(transport::link::MessageHandler& handler);
  /// Of the senders; null before `serve`.
  [[nodiscard]] const std::shared_ptr<transport::link::RateLimiter>& limiter() const {
    return limiter_;
  }
  /// To stop several ports, call this for all of them first; then their grace periods run in
  /// parallel.
  void begin_stop();
  void stop_serving();
  [[nodiscard]] std::uint16_t port() const;

  [[nodiscard]] peers::PeerClient& peers() { return *peers_; }
  [[nodiscard]] audit::log::AuditLog& log() { return *log_; }

 private:
  AgentPort(AgentHost& host, std::unique_ptr<audit::log::AuditLog> log, envelope::Mode mode,
            std::optional<transport::link::BusSession> session, seats::Seats* seats);

  AgentHost& host_;
  const std::optional<transport::link::BusSession> session_;
  seats::Seats* const seats_;
  std::unique_ptr<audit::log::AuditLog> log_;
  seats::SeatCaller seat_caller_;
  transport::caller::BatchCaller batches_;
  audit::calls::AuditedCaller audited_caller_;
  audit::calls::AuditedCaller audited_sessions_;
  std::unique_ptr<peers::PeerClient> peers_;
  std::unique_ptr<runtime::ExceptionGuard> guard_;
  std::unique_ptr<audit::calls::AuditedHandler> audited_handler_;
  identity::OwnCredentials credentials_;
  std::shared_ptr<transport::link::RateLimiter> limiter_;
  std::unique_ptr<transport::link::BudgetedHandler> budgeted_handler_;
  std::unique_ptr<transport::http::BatchHandler> batch_handler_;
  std::unique_ptr<seats::SeatAnswers> seat_answers_;
  std::unique_ptr<AgentListener> listener_;
  std::unique_ptr<seats::SeatClient> seat_client_;
  std::unique_ptr<bus::PortBus> on_bus_;  ///< null if the program is on no bus
};

}  // namespace league::agent::host
