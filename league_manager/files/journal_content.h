#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/core/timestamp.h"
#include "common/journal/journal.h"
#include "common/journal/journal_mark.h"
#include "league_manager/events/agent_ref.h"
#include "league_manager/events/match_key.h"

namespace league::league_manager::files {

/// The content of a journal that other files of a league may refer to. A value.
struct JournalContent {
  std::uint64_t entries = 0;
  std::string league_id;  ///< empty: there is no league
  /// Claims from before this time need not be in the journal: they belong to an earlier league or
  /// to a term whose last entries were not replicated, or the operator has accepted their loss.
  core::UtcTimestamp since;
  int players = 0;
  int referees = 0;
  std::vector<events::MatchKey> finished;  ///< sorted
  bool has_marked = false;  ///< the journal contains the marked entry, with the same digest

  [[nodiscard]] bool has(events::AgentRef agent) const {
    return agent.index < (agent.kind == events::AgentKind::kPlayer ? players : referees);
  }
  [[nodiscard]] bool has_finished(events::MatchKey match) const;
  /// `entry 17 (4 players, 1 referee, 2 results)`.
  [[nodiscard]] std::string text() const;
};

/// Reads a journal. `mark`: the entry to look for. Fails as the journal does, and for an event that
/// cannot be read.
[[nodiscard]] core::Result<JournalContent> read_content(
    const journal::Journal& journal, const std::optional<journal::JournalPosition>& mark);

}  // namespace league::league_manager::files
