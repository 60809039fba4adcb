#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tools/audit/evidence/verify_journal.h"
#include "tools/audit/verify/verify_league.h"

namespace league::tools {

/// What the operator of a league has given up by going on from an older journal: what happened
/// before such an entry of the journal to a match that has no result before it does not count any
/// more, for or against anybody. docs/audit.md, "Given up". Not thread-safe.
class AcceptedLosses {
 public:
  /// `kept` outlives it; null: nothing is known to be given up.
  explicit AcceptedLosses(const JournalLeague* kept);

  /// Takes the facts of that past out of the logs of the league; each entry is an incident that
  /// names the accepted results that are gone with it.
  void forget(std::vector<LeagueLog>& logs, Findings& findings);

  /// Whether what happened at `time_us` to this match is of that past.
  [[nodiscard]] bool covers(const std::string& match_id, std::int64_t time_us) const;
  /// Whether the logs held anything of a play of this match that does not count any more.
  [[nodiscard]] bool has_forgotten(const std::string& match_id) const {
    return forgotten_.contains(match_id);
  }

 private:
  const JournalLeague* kept_;
  std::vector<std::set<std::string>> decided_;  ///< by entry: the matches that had a result
  std::set<std::string> forgotten_;
};

}  // namespace league::tools
