#pragma once

#include <memory>

#include "common/agent/host/agent_host.h"
#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "common/journal/sqlite_journal.h"
#include "league_manager/program/leadership.h"
#include "league_manager/program/program.h"

namespace league::league_manager {

/// The dependencies of waiting for the lead, with `--replicate` or `--standby`; all outlive the
/// Leadership.
struct TurnDependencies {
  agent::host::AgentHost& host;
  core::RandomSource& random;
  transport::link::StopSignal& stop;
};

/// Checks that the manager can wait for the lead. Fails with kInvalidFieldValue, and a text that
/// says what to do, if the bus has no streams.
[[nodiscard]] core::Result<void> check_turn(const ProgramOptions& options,
                                            const agent::host::AgentHost& host);

/// Blocks until this manager leads `league`, whose journal is then in `local`; null: it was asked
/// to stop. If another manager replaces it later, the process ends at once with exit code 2, since
/// it may no longer send anything, not even an error. Fails if the local files cannot be read, and
/// if the key of the data directory is not that of the league.
[[nodiscard]] core::Result<std::unique_ptr<Leadership>> wait_for_turn(
    const ProgramOptions& options, const core::LeagueId& league, journal::SqliteJournal& local,
    const TurnDependencies& dependencies);

}  // namespace league::league_manager
