#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>

#include "common/agent/host/program_options.h"
#include "common/audit/log/log_retention.h"
#include "common/journal/group_commit.h"
#include "league_manager/admission/admission.h"
#include "league_manager/events/settings.h"

namespace league::transport::link {
class StopSignal;
}

namespace league::league_manager {

class ManagerReload;

struct ProgramOptions {
  agent::host::ProgramOptions common;
  // The next four have defaults for a new league (2, 1, league_YEAR_GAME and even_odd); a league
  // that is continued keeps its own values.
  std::optional<int> players;
  std::optional<int> meetings;  ///< of each pair
  std::optional<int> referees;
  std::optional<std::string> league_id;
  std::optional<std::string> game;  ///< a name, or a file
  events::UnprovenReferees unproven_referees = events::UnprovenReferees::kFromLoopback;
  std::filesystem::path data = "data";
  bool is_new = false;  ///< archive the league of the data directory, if there is one
  bool is_ephemeral = false;  ///< keep no journal
  std::string operator_key_file;  ///< empty: DATA/operator.key
  admission::RefereeAdmission referee_admission = admission::RefereeAdmission::kKeyFromElsewhere;
  std::filesystem::path registration_codes;  ///< empty: players need none
  bool requires_commitments = false;  ///< only players that declare receipts may register
  int registration_window_seconds = 0;
  int drain_seconds = 0;  ///< how long running matches may take when the program is about to end
  std::string endpoints = "local";
  bool is_leading = false;  ///< its journal is replicated to others, and it may begin a league
  audit::log::LogRetention keep_logs;  ///< of earlier leagues
  std::vector<std::string> webhooks;  ///< URLs to which news of the league is sent
  bool is_standby = false;  ///< begins no league of its own

  /// Other managers can take over.
  [[nodiscard]] bool is_replicated() const { return is_standby || is_leading; }
};

/// The options of a command line; an exit code if there is nothing to run.
[[nodiscard]] std::variant<ProgramOptions, int> read_command_line(int argc, char** argv);

/// Hooks with which tests end the process or break its disk; empty in the program.
struct FaultHooks {
  std::function<void(journal::FaultPoint)> journal;
  std::function<void()> after_answer;  ///< a registration or a report has been answered
  std::string vfs;  ///< see SqliteJournalOptions
};

/// Runs a league, a new one or that of the data directory, until a signal arrives. Returns the exit
/// code: 2 if the environment does not allow it, or no longer does. `reload`: null if settings
/// cannot be reloaded; otherwise it outlives the run.
int run(const ProgramOptions& options, transport::link::StopSignal& stop,
        const FaultHooks& hooks = {}, ManagerReload* reload = nullptr);

}  // namespace league::league_manager
