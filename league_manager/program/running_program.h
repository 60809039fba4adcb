#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "common/agent/host/agent_host.h"
#include "league_manager/admission/seat_admission.h"
#include "league_manager/files/league_projector.h"
#include "league_manager/hosts/host_tools.h"
#include "league_manager/program/leaders_handler.h"
#include "league_manager/program/league_store.h"
#include "league_manager/program/manager_bus.h"
#include "league_manager/program/manager_codes.h"
#include "league_manager/program/manager_drain.h"
#include "league_manager/program/manager_pages.h"
#include "league_manager/program/manager_reload.h"
#include "league_manager/program/manager_webhooks.h"
#include "league_manager/program/program.h"
#include "league_manager/rounds/operator_log.h"
#include "league_manager/service/league_end.h"
#include "league_manager/service/manager_service.h"

namespace league::league_manager {

/// One run of the program. Its members are declared in the order of their lifetimes: each uses
/// those above it.
class Program {
 public:
  Program(const ProgramOptions& options, transport::link::StopSignal& stop, const FaultHooks& hooks)
      : options_(options), stop_(stop), hooks_(hooks) {}
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (port_) port_->stop_serving();  // no request may reach a service that is destroyed
    if (store_) store_->close();  // the journal must not call back into destroyed members
  }

  /// Opens everything and begins to serve, but starts no round yet. False: the manager was asked to
  /// stop before it led its league.
  core::Result<bool> open();
  /// Runs the league until somebody stops it.
  void play(ManagerReload* reload);
  [[nodiscard]] int exit_code() const { return exit_code_; }

 private:
  core::Result<void> read_options();
  core::Result<void> open_store();
  core::Result<void> open_port();
  void make_operator_log();
  core::Result<void> open_ledger();
  core::Result<void> check_ledger();
  core::Result<void> open_rounds();
  void make_league_runner();
  void publish_receipt_keys();
  core::Result<void> open_admission();
  void make_service();
  void make_hosts();
  core::Result<void> serve();
  void tell_operator();
  void on_finished();
  /// Empty if the league has one manager only.
  [[nodiscard]] spectators::ReplicationSource replication() const;
  /// Shows the league as of all durable events; false: not within half a second.
  bool read_durable(const std::function<void(const League&)>& show);

  [[nodiscard]] std::string seats_at(const std::string& manager_url) const;
  [[nodiscard]] agent::seats::Patience patience_with(const std::string& player,
                                                     envelope::MessageType type) const;
  [[nodiscard]] const core::LeagueId& id() const { return store_->settings().league_id; }

  const ProgramOptions& options_;
  transport::link::StopSignal& stop_;
  const FaultHooks& hooks_;
  agent::runtime::Settings settings_;
  transport::link::EndpointPolicy policy_ = transport::link::EndpointPolicy::any();
  core::CryptoRandom random_;
  std::atomic<int> exit_code_{0};
  std::unique_ptr<agent::host::AgentHost> host_;
  std::unique_ptr<LeagueStore> store_;
  std::optional<service::AgentRecords> records_;
  spectators::Metrics metrics_;
  std::optional<agent::seats::Seats> seats_;
  std::unique_ptr<agent::host::AgentPort> port_;
  std::optional<files::Ledger> ledger_;
  agent::runtime::ProjectionWriter projections_;
  std::optional<ManagerDrain> drain_;
  std::optional<files::LeagueProjector> projector_;
  std::optional<service::LeagueEnd> end_;
  std::optional<ManagerPages> pages_;
  std::shared_ptr<spectators::Webhooks> webhooks_;  ///< null without --webhook
  std::optional<rounds::OperatorLog> operator_log_;
  std::unique_ptr<agent::runtime::ProbingDelayMeter> delays_;
  EventPublisher events_;
  std::optional<envelope::EnvelopeBuilder> envelopes_;
  std::optional<admission::SeatCalls> seat_calls_;
  std::optional<rounds::LeagueRunner> league_runner_;
  std::optional<admission::Admission> admission_;
  std::optional<ManagerCodes> codes_;
  std::optional<admission::EndpointAdmission> endpoints_;
  std::optional<service::ManagerService> service_;
  std::optional<hosts::HostTools> hosts_;
  std::optional<LeadersHandler> handler_;
  std::optional<admission::SeatAdmission> seat_admission_;
  std::optional<agent::seats::SeatDoor> door_;
};

}  // namespace league::league_manager
