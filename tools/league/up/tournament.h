#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "tools/league/up/league_plan.h"
#include "tools/league/up/league_progress.h"
#include "tools/league/up/live_view.h"
#include "tools/league/up/manager_client.h"
#include "tools/league/up/process_group.h"
#include "tools/league/up/run_store.h"
#include "tools/league/up/technical_losses.h"
#include "tools/league/up/waiting_notice.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::tools {

/// The outcome of a league that was completed or interrupted.
struct TournamentOutcome {
  LeagueProgress progress;
  std::vector<TableRow> standings;
  std::vector<TechnicalLosses> technical_losses;  ///< filled in by the caller, from the journal
  double seconds = 0;  ///< from the start of the league, when all are registered, to its end
  bool was_interrupted = false;
};

/// Plays one league with programs on this machine. Not thread-safe; use it from the main thread.
class Tournament {
 public:
  /// `options` are those of `run_store`, with the broker's address; `run_store`, `clock`, `stop`
  /// and `view` outlive the tournament.
  Tournament(UpOptions options, std::vector<std::string> strategies, RunStore& run_store,
             const core::Clock& clock, transport::link::StopSignal& stop, LiveView& view);

  /// Starts everything and waits for the end of the league, or for a signal. Fails with a text for
  /// people if a program cannot be started or ends too early.
  [[nodiscard]] core::Result<TournamentOutcome> play();
  /// The manager's URL; empty before it listens.
  [[nodiscard]] const std::string& manager_url() const { return manager_url_; }
  /// Ends all programs: manager, referees, players.
  void stop_programs();

 private:
  /// Waits for `moment` or a signal, and checks the programs. False: interrupted by a signal.
  core::Result<bool> wait_a_moment(std::chrono::milliseconds moment);
  core::Result<void> check_programs();
  core::Result<bool> start_manager();
  core::Result<void> keep_address();
  core::Result<bool> start_agents();
  core::Result<bool> wait_for_players();
  core::Result<void> register_subprocess_players(
      const std::vector<SubprocessPlayer>& subprocess_players);
  void say_who_is_missing();
  core::Result<void> poll_league();
  core::Result<bool> watch_league();
  void greet_newcomers();
  core::Result<bool> wait_until_told();

  const UpOptions options_;
  const std::vector<std::string> strategies_;
  RunStore& run_store_;
  const core::Clock& clock_;
  transport::link::StopSignal& stop_;
  LiveView& view_;
  ProcessGroup processes_;
  std::vector<std::string> residents_;  // ids of subprocess players, which have no process here
  std::string manager_url_;
  std::optional<ManagerClient> client_;
  LeagueProgress progress_;
  std::vector<TableRow> top_;
  std::vector<std::string> greeted_;
  int players_seen_ = -1;  ///< number of registered players at the last look for new ones
  WaitingNotice missing_programs_;
  WaitingNotice silent_manager_;
  core::Clock::Steady next_table_{};
  core::Clock::Steady next_picture_{};
};

}  // namespace league::tools
