// A manager that was built without the folder bus/, or with -DLEAGUE_BUS=OFF: no other manager can
// take over, and no events are published.
#include "league_manager/program/manager_bus.h"
#include "league_manager/program/manager_turn.h"

namespace league::league_manager {
namespace {

core::Error no_bus() {
  return {core::ErrorCode::kInvalidFieldValue,
          "--replicate and --standby need a message bus, which this build does not have", ""};
}

}  // namespace

EventPublisher open_events(agent::host::AgentHost& /*host*/, agent::host::AgentPort& /*port*/,
                           const core::LeagueId& /*id*/, const Leadership* /*leadership*/) {
  return {};
}

core::Result<void> join_bus(agent::host::AgentHost& /*host*/, agent::host::AgentPort& /*port*/,
                            transport::link::MessageHandler& /*handler*/,
                            rounds::LeagueRunner& /*league_runner*/,
                            const files::Ledger& /*ledger*/, const core::LeagueId& /*id*/) {
  return {};
}

core::Result<void> check_turn(const ProgramOptions& options,
                              const agent::host::AgentHost& /*host*/) {
  return options.is_replicated() ? core::Result<void>(no_bus()) : core::Result<void>();
}

core::Result<std::unique_ptr<Leadership>> wait_for_turn(const ProgramOptions& /*options*/,
                                                        const core::LeagueId& /*league*/,
                                                        journal::SqliteJournal& /*local*/,
                                                        const TurnDependencies& /*dependencies*/) {
  return no_bus();
}

}  // namespace league::league_manager
