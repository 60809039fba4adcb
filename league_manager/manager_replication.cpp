#include "league_manager/manager_replication.h"

#include <chrono>
#include <utility>

namespace league::league_manager {

spectators::ReplicationSource replication_of(const stream::Leadership* leadership) {
  if (leadership == nullptr) return {};
  return [leadership]() -> std::optional<spectators::ReplicationFigures> {
    const stream::ReplicaStatus status = leadership->status();
    const stream::StreamRoom room = leadership->room();
    spectators::ReplicationFigures figures{.leader = status.leader,
                                           .term = status.term,
                                           .stream = status.incarnation,
                                           .acknowledged = status.acknowledged,
                                           .written = status.flushed,
                                           .waits_for = status.waits_for,
                                           .store_bytes = room.used,
                                           .store_max_bytes = room.most};
    for (const auto& [name, sequence, is_in_sync, silent] : status.standbys)
      figures.standbys.push_back(
          {name, sequence, is_in_sync, std::chrono::duration<double>(silent).count()});
    return figures;
  };
}

std::function<bool(const std::function<void(const League&)>&)> read_durable_from(
    files::LeagueProjector& projector) {
  return [&projector](const std::function<void(const League&)>& show) {
    return projector.read([&](const files::LeagueBook& book) { show(book.league()); },
                          std::chrono::milliseconds(500));
  };
}

}  // namespace league::league_manager
