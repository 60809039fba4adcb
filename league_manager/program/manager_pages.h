#pragma once

#include <memory>
#include <vector>

#include "common/agent/seats/seats.h"
#include "common/audit/log/audit_log.h"
#include "common/core/random_source.h"
#include "common/core/timer.h"
#include "league_manager/files/league_projector.h"
#include "league_manager/files/ledger.h"
#include "league_manager/program/manager_drain.h"
#include "league_manager/spectators/figure_keeper.h"
#include "league_manager/spectators/metrics.h"
#include "league_manager/spectators/registration_board.h"
#include "league_manager/spectators/replication_figures.h"
#include "league_manager/spectators/spectator_feed.h"

namespace league::league_manager {

/// All pages of the manager, for people and for Prometheus. Thread-safe.
class ManagerPages {
 public:
  /// Begins to observe `ledger`, which must not be open yet. All arguments must outlive this
  /// object; no commits may happen any more when it is destroyed.
  ManagerPages(files::Ledger& ledger, spectators::Metrics& metrics,
               files::LeagueProjector& projector, core::RandomSource& random,
               const core::Clock& clock, const agent::seats::Seats& seats);
  ManagerPages(const ManagerPages&) = delete;
  ManagerPages& operator=(const ManagerPages&) = delete;
  /// A line of the operator's log.
  void on_line(const rounds::OperatorLine& line) { feed_->on_line(line); }
  /// For registrations and refusals.
  [[nodiscard]] spectators::RegistrationBoard& registrations() { return registrations_; }
  /// The latest lines of the operator's log, as a JSON array.
  [[nodiscard]] std::string news() const { return feed_->news(); }
  /// The latest figures beside the points; null before the first.
  [[nodiscard]] spectators::FigureKeeper::Latest figures() const { return figures_.latest(); }
  /// `log` and `drain` outlive the pages. `replication`: empty if the league has one manager only.
  [[nodiscard]] std::vector<transport::http::Page> pages(
      const audit::log::AuditLog& log, const ManagerDrain& drain,
      const spectators::ReplicationSource& replication = {}) const;
  /// Sends spectators the last updates; then stops.
  void finish() { feed_->finish(); }
  /// Stops reading and sending.
  void stop();

 private:
  const files::Ledger& ledger_;
  spectators::Metrics& metrics_;
  core::ThreadTimer timer_;  // its own, so that work for spectators does not delay anybody else
  spectators::RegistrationBoard registrations_;
  const std::shared_ptr<spectators::SpectatorFeed> feed_;
  spectators::FigureKeeper figures_;  // last: its thread uses the feed
};

}  // namespace league::league_manager
