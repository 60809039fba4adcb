#pragma once

#include <functional>

#include "league_manager/files/league_projector.h"
#include "league_manager/spectators/replication_figures.h"
#include "league_manager/stream/leadership.h"

namespace league::league_manager {

/// The figures of `leadership`, which outlives it; null: the league has one manager only.
[[nodiscard]] spectators::ReplicationSource replication_of(const stream::Leadership* leadership);

/// Shows the league as of all durable events; false: not within half a second. `projector` outlives
/// it.
[[nodiscard]] std::function<bool(const std::function<void(const League&)>&)> read_durable_from(
    files::LeagueProjector& projector);

}  // namespace league::league_manager
