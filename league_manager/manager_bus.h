#pragma once

#include <memory>

#include "common/agent/host/agent_host.h"
#include "common/core/ids.h"
#include "league_manager/bus/bus_event_board.h"
#include "league_manager/bus/event_feed.h"
#include "league_manager/bus/store_watch.h"
#include "league_manager/files/ledger.h"
#include "league_manager/rounds/conductor.h"

namespace league::league_manager {

/// What publishes the league's events; all are null where the program is on no bus.
struct EventPublisher {
  std::unique_ptr<EventFeed> feed;
  std::unique_ptr<BusEventBoard> board;  // after the feed, which it tells
  std::unique_ptr<StoreWatch> stores;  ///< null, too, where there are no streams
};

[[nodiscard]] EventPublisher open_events(agent::AgentHost& host, agent::AgentPort& port,
                                         const core::LeagueId& id);

/// Serves the league's sessions, where the program is on a bus, with those of its agents from
/// before.
[[nodiscard]] core::Result<void> join_bus(agent::AgentHost& host, agent::AgentPort& port,
                                          transport::MessageHandler& handler, Conductor& conductor,
                                          const Ledger& ledger, const core::LeagueId& id);

}  // namespace league::league_manager
