#pragma once

#include <functional>

#include "league_manager/core/schedule.h"
#include "league_manager/events/events.h"

namespace league::league_manager {

/// What `event` does to the life cycles of agents, which `lifecycle_of` finds: a failure counts, a
/// change of state takes place, and a report is a success for its referee and for each player that
/// did not lose by a failure.
void apply_to_lifecycles(const Event& event, const Schedule& schedule,
                         const std::function<AgentLifecycle&(AgentRef)>& lifecycle_of);

}  // namespace league::league_manager
