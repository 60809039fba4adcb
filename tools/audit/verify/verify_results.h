#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "game/registry.h"
#include "tools/audit/evidence/verify_journal.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

/// The result of a match as the manager accepted it.
struct LeagueResult {
  game::Outcome outcome = game::Outcome::kNoWinner;
  std::optional<std::string> conversation;  ///< of the report, if it is known; empty: none
  LogPosition place;
};
using LeagueResults = std::map<std::string, LeagueResult>;

/// Checks one accepted report against all facts about its match; returns the outcome, if it has one
/// that can count in a table.
std::optional<game::Outcome> check_report(const AcceptedReport& report,
                                          const LeagueEvidence& evidence,
                                          const game::Registry& games, Findings& findings);

/// Whether the revealed `seed` matches the commitment for the match; a fault otherwise.
bool check_seed(const std::string& match_id, const std::string& seed, const LogPosition& place,
                const LeagueEvidence& evidence, Findings& findings);

/// Checks the accepted reports (commitments, drawn numbers, winners, one result per match) and the
/// final table, and compares them with the manager's journal (null: unknown). Protocol §7.
void check_results(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                   const JournalLeague* kept, const std::vector<DecidedAttempt>& decided,
                   const game::Registry& games, Findings& findings);

/// Compares the final `table` that the manager sent with `results`.
void check_table(const FinalTable& table, const LeagueEvidence& evidence,
                 const LeagueResults& results, const JournalLeague* kept, Findings& findings);

}  // namespace league::tools::auditor
