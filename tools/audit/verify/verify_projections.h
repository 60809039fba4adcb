#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "tools/audit/verify/verify_accepted_losses.h"
#include "tools/audit/verify/verify_match.h"

namespace league::tools::auditor {

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
                       const audit::LeagueIdentity& league, Findings& findings);

}  // namespace league::tools::auditor
