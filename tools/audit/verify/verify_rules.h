#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "game/registry.h"
#include "tools/audit/evidence/verify_journal.h"
#include "tools/audit/verify/verify_accepted_losses.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

/// Checks the accepted reports against the players' own records: the choices, and technical losses
/// of players that did answer.
void check_choices(const LeagueEvidence& evidence, const game::Registry& games, Findings& findings);

/// Adds a note for each disputed match on whose statement the sealed records support. Call it after
/// all other checks, whose results in `findings` it uses.
void note_disputes(const LeagueEvidence& evidence, Findings& findings);

/// Checks that the commitments in the accepted reports are those in the players' sealed logs, that
/// they are opened, and that they stay the same in all attempts. Protocol §7.
void check_commitments(const LeagueEvidence& evidence, Findings& findings);

/// The fairness of a match: `both`, `one` or `none` of the players committed; `claimed` if the
/// report lists a commitment that is in no sealed log.
[[nodiscard]] std::string sealed_fairness(const AcceptedReport& report, const MatchEvidence& match);

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

/// Compares `leagues/*/standings.json` and `rounds.json` in `data`, byte by byte, with the content
/// that follows from the journal up to the entry that the file names; also compares the rows of a
/// finished league with `final_standings`, the table that the manager sent to everybody (null if it
/// sent none). A file that is older than the journal is no fault, since files are written in the
/// background. A file that is ahead of it is a fault, unless a manager took over from another one
/// since. docs/files.md.
void check_projections(const std::filesystem::path& data, const nlohmann::json& final_standings,
                       Findings& findings);

/// Compares the referees' `matches/*/*.json` and the players' `history.json` in `data` with the
/// results in the manager's journal (`kept`), or with the accepted reports if `kept` is null. A
/// file that was written before its match was given up is no fault. docs/files.md.
void check_match_files(const std::filesystem::path& data, const LeagueEvidence& evidence,
                       const JournalLeague* kept, const AcceptedLosses& past,
                       const audit::log::LeagueIdentity& league, Findings& findings);

}  // namespace league::tools::auditor
