#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/audit/facts/journal.h"
#include "tools/audit/rules/league_log.h"

namespace league::tools::auditor {

/// What the operator of a league has given up by continuing with an older journal. Such an
/// acceptance is an entry of the journal; a match without a result before that entry has no valid
/// past: what happened to it earlier counts neither for nor against anybody. docs/audit.md, "Given
/// up". Not thread-safe.
class AcceptedLosses {
 public:
  /// `kept` must outlive it; null: no losses are known.
  explicit AcceptedLosses(const JournalLeague* kept);

  /// Removes the facts that do not count any more from the logs of the league, and adds an incident
  /// for each entry, with the accepted results that were lost.
  void forget(std::vector<LeagueLog>& logs, Findings& findings);

  /// Whether an event of this match at `time_us` does not count any more.
  [[nodiscard]] bool covers(const std::string& match_id, std::int64_t time_us) const;
  /// Whether the logs contained anything about a play of this match that does not count any more.
  [[nodiscard]] bool has_forgotten(const std::string& match_id) const {
    return forgotten_.contains(match_id);
  }

 private:
  const JournalLeague* kept_;
  std::vector<std::set<std::string>> decided_;  ///< by entry: the matches that had a result
  std::set<std::string> forgotten_;
};

}  // namespace league::tools::auditor
