#pragma once

#include <memory>

#include "common/agent/host/agent_host.h"
#include "common/core/ids.h"
#include "league_manager/bus/event_board.h"
#include "league_manager/bus/event_subscriptions.h"
#include "league_manager/files/ledger.h"
#include "league_manager/program/leadership.h"
#include "league_manager/rounds/league_runner.h"

namespace league::league_manager {

/// Publishes the league's events; all are null if the program is not on a bus.
struct EventPublisher {
  std::unique_ptr<bus::EventSubscriptions> feed;
  std::unique_ptr<bus::EventBoard> board;  // after the feed, which it notifies
  std::shared_ptr<void>
      stores;  ///< watches how full the streams are; null, too, where there are none
};

/// `leadership` is null if no other manager can take over; it outlives the publisher.
[[nodiscard]] EventPublisher open_events(agent::host::AgentHost& host, agent::host::AgentPort& port,
                                         const core::LeagueId& id, const Leadership* leadership);

/// If the program is on a bus: serves the league's sessions, and expects those of the agents that
/// are already registered.
[[nodiscard]] core::Result<void> join_bus(agent::host::AgentHost& host,
                                          agent::host::AgentPort& port,
                                          transport::link::MessageHandler& handler,
                                          rounds::LeagueRunner& league_runner,
                                          const files::Ledger& ledger, const core::LeagueId& id);

}  // namespace league::league_manager
