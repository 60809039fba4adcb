#pragma once

#include <memory>

#include "common/agent/host/agent_host.h"
#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "common/journal/journal.h"
#include "league_manager/files/ledger.h"
#include "league_manager/program.h"
#include "league_manager/standby/leadership.h"

namespace league::league_manager {

/// What the turn of a manager with `--replicate` or `--standby` is waited for with; all outlive the
/// StandbyTakeover.
struct TurnDependencies {
  agent::AgentHost& host;
  core::RandomSource& random;
  transport::StopSignal& stop;
};

/// Whether the turn can be waited for. Fails with kInvalidFieldValue, and a text that says what to
/// do, where the bus keeps no streams.
[[nodiscard]] core::Result<void> check_turn(const ProgramOptions& options,
                                            const agent::AgentHost& host);

/// Blocks until this manager leads `league`, whose journal is then in `local`; null: it was asked
/// to stop. Whoever is fenced later ends the process at once, with 2: nothing may leave it any
/// more, not even an error. Errors as of StandbyTakeover::lead, and those of a key that does not
/// fit.
[[nodiscard]] core::Result<std::unique_ptr<Leadership>> wait_for_turn(
    const ProgramOptions& options, const core::LeagueId& league, journal::Journal& local,
    const TurnDependencies& dependencies);

/// Writes down that a term begins, and serves: to be called before anybody is answered. Blocks
/// until the broker has it.
[[nodiscard]] core::Result<void> begin_serving(Leadership& leadership, Ledger& ledger);

}  // namespace league::league_manager
