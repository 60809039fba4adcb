#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "common/agent/gated_caller.h"
#include "common/agent/peer_client.h"
#include "common/agent/settings.h"
#include "common/audit/audit_log.h"
#include "common/audit/audited_caller.h"
#include "common/audit/audited_handler.h"
#include "common/core/timer.h"
#include "common/envelope/message_schemas.h"
#include "common/transport/http_server.h"

namespace league::agent {

/// What all agents of one process share: clock, timer, schemas, the HTTP event loop and the HTTP
/// caller.
class AgentHost {
 public:
  /// Fails when the schemas of `schema_directory` are wrong or the system refuses what a server
  /// needs.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentHost>> create(
      const Settings& settings, const std::optional<std::filesystem::path>& schema_directory);
  ~AgentHost();

  [[nodiscard]] const core::Clock& clock() const { return clock_; }
  [[nodiscard]] core::Timer& timer() { return *timer_; }
  [[nodiscard]] const envelope::MessageSchemas& schemas() const { return schemas_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] transport::HttpRuntime& runtime() { return *runtime_; }
  [[nodiscard]] transport::Caller& caller() { return *caller_; }
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
  std::unique_ptr<transport::HttpRuntime> runtime_;
  std::unique_ptr<core::ThreadTimer> timer_;
  std::unique_ptr<GatedCaller> caller_;
};

/// Where one agent stands: its conversation log, its way to its peers, and its server, all
/// recorded.
class AgentPort {
 public:
  struct Options {
    std::filesystem::path log;  ///< file of the conversation log
    std::string agent;  ///< `player:alpha`, `league_manager`
    std::string league_id;  ///< empty while unknown
    envelope::Mode mode = envelope::Mode::kOpen;  ///< towards the peers it calls
    std::filesystem::path log_key =
        {};  ///< file of the key that seals the log; empty: a passing one
  };
  /// `host` outlives the port.
  [[nodiscard]] static core::Result<std::unique_ptr<AgentPort>> open(AgentHost& host,
                                                                     Options options);
  ~AgentPort();

  /// Listens; `handler` outlives the port or `stop_serving`.
  [[nodiscard]] core::Result<void> serve(transport::HttpServerOptions options,
                                         transport::MessageHandler& handler);
  /// For who stops several ports: begin with all, then each stops within the same time.
  void begin_stop();
  void stop_serving();
  [[nodiscard]] std::uint16_t port() const;

  [[nodiscard]] PeerClient& peers() { return *peers_; }
  [[nodiscard]] audit::AuditLog& log() { return *log_; }

 private:
  AgentPort(AgentHost& host, std::unique_ptr<audit::AuditLog> log, envelope::Mode mode);

  AgentHost& host_;
  std::unique_ptr<audit::AuditLog> log_;
  audit::AuditedCaller audited_caller_;
  std::unique_ptr<PeerClient> peers_;
  std::unique_ptr<audit::AuditedHandler> audited_handler_;
  std::unique_ptr<transport::HttpServer> server_;
};

/// The limits of `settings` for a server that listens at `bind_address` and `port`.
[[nodiscard]] transport::HttpServerOptions server_options(const Settings& settings,
                                                          std::string bind_address,
                                                          std::uint16_t port,
                                                          std::vector<std::string> allow_hosts);

}  // namespace league::agent
