#pragma once

#include <string>

#include "common/agent/host/agent_server.h"
#include "league_manager/bus/event_subscriptions.h"

namespace league::league_manager::service {

/// Serves the tool events_subscribe: a caller with a session on the bus gets the league's events
/// there, any other caller by the event stream that its answer becomes. Immutable, so thread-safe.
class EventTool {
 public:
  /// Binds the tool. `server` and `feed` must outlive it; `feed` is null if there is no bus.
  EventTool(agent::host::AgentServer& server, bus::EventSubscriptions* feed, std::string league_id);
  EventTool(const EventTool&) = delete;
  EventTool& operator=(const EventTool&) = delete;

 private:
  void on_subscribe(agent::host::ToolCall call);
  void stream(agent::host::ToolCall call, bus::EventFilter filter, nlohmann::json answer);

  bus::EventSubscriptions* const feed_;
  const std::string league_id_;
};

}  // namespace league::league_manager::service
