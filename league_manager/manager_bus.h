#pragma once

#include <memory>

#include "common/agent/agent_host.h"
#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "league_manager/bus_event_board.h"
#include "league_manager/bus_match_queue.h"
#include "league_manager/conductor.h"
#include "league_manager/event_feed.h"
#include "league_manager/ledger.h"

namespace league::league_manager {

/// What publishes the league's events; both are null where the program is on no bus.
struct EventOffice {
  std::unique_ptr<EventFeed> feed;
  std::unique_ptr<BusEventBoard> board;  // after the feed, which it tells
};

[[nodiscard]] EventOffice open_events(agent::AgentHost& host, agent::AgentPort& port,
                                      const core::LeagueId& id);

/// Where matches wait for referees who come for them; both are null where there are no streams.
struct WorkQueue {
  std::unique_ptr<BusMatchQueue> queue;
  bool works = false;  ///< at the beginning
  std::unique_ptr<QueueKeeper> keeper = nullptr;
};

/// How often a match may be handed out in vain before it is offered again.
inline constexpr int kPatience = 3;

/// The queue of the league's matches, where the program is on a bus whose broker may keep streams.
[[nodiscard]] WorkQueue open_queue(agent::AgentHost& host, agent::AgentPort& port,
                                   const core::LeagueId& id, core::RandomSource& random);

/// Serves the league's sessions, where the program is on a bus, with those of its agents from
/// before.
[[nodiscard]] core::Result<void> join_bus(agent::AgentHost& host, agent::AgentPort& port,
                                          transport::MessageHandler& handler, Conductor& conductor,
                                          const Ledger& ledger, const core::LeagueId& id);

}  // namespace league::league_manager
