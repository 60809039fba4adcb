#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/schema/fields.h"

namespace league::league_manager::spectators {

/// The state of a league that several managers share, as the leading one knows it: for
/// `get_league_status` and `/metrics`. Events are numbered from 1 by their place in the journal.
struct ReplicationFigures {
  std::string leader = {};  ///< name of the manager that leads; empty: none that we know of
  std::uint64_t term = 0;  ///< of that leader
  std::uint64_t stream = 0;  ///< incarnation of the journal's stream, which is in the stream's name
  std::uint64_t acknowledged = 0;  ///< the last event on which answers may depend
  std::uint64_t written = 0;  ///< the last event that is durable in this manager's journal
  struct Standby {
    std::string name;
    std::uint64_t entries = 0;  ///< the last event of its journal
    bool in_sync = false;  ///< answers wait for it
    double silent_seconds = 0;  ///< since its last heartbeat

    void describe(schema::Fields& a) {
      a.defaulted("name", name, "entries", entries, "in_sync", in_sync, "silent_seconds",
                  silent_seconds);
    }
  };
  std::vector<Standby> standbys = {};  ///< all that the leader has heard of
  std::string waits_for = {};  ///< why the league does not go on, and what to do; empty: it goes on
  std::uint64_t store_bytes = 0;  ///< of the stream
  std::int64_t store_max_bytes = -1;  ///< -1: no limit

  /// As `get_league_status` has it.
  void describe(schema::Fields& a) {
    a.defaulted("leader", leader, "term", term, "stream", stream, "acknowledged", acknowledged,
                "written", written, "standbys", standbys, "waits_for", waits_for, "store_bytes",
                store_bytes);
    std::optional<std::int64_t> limit;
    if (store_max_bytes >= 0) limit = store_max_bytes;
    a.nullable("store_max_bytes", limit);
    if (a.reads()) store_max_bytes = limit.value_or(-1);
  }
};

/// Returns nothing if the league has one manager only. Is called from several threads at once, and
/// without any lock of ours.
using ReplicationSource = std::function<std::optional<ReplicationFigures>()>;

}  // namespace league::league_manager::spectators
