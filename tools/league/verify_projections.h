#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/audit/chain_verifier.h"

namespace league::tools {

/// Compares `leagues/*/standings.json` and `rounds.json` in `data`, byte by byte, with what follows
/// from the journal up to the entry that the file names; and the rows of a finished league with
/// `final_standings`, the table that the manager told everybody (null if it told none). A file that
/// is older than the journal is no fault: it is written in the background. docs/files.md.
void check_projections(const std::filesystem::path& data, const nlohmann::json& final_standings,
                       std::vector<audit::LogFault>& faults);

}  // namespace league::tools
