#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "tools/audit/verify/verify_league.h"

namespace league::tools::auditor {

/// Checks `MANIFEST.json` of a bundle in `directory`, if there is one: the digests and the list of
/// its files, and whether `without` names each entry of its `left_out`. A manifest is no
/// permission: what it says excuses nothing. Returns the entries of `left_out` in words, in their
/// order.
[[nodiscard]] std::vector<std::string> check_manifest(const std::filesystem::path& directory,
                                                      const std::set<std::string>& without,
                                                      Findings& findings);

/// The command that verifies a bundle with these entries of `left_out`, ready to paste.
[[nodiscard]] std::string verify_command(const std::string& directory,
                                         const std::vector<std::string>& names);

}  // namespace league::tools::auditor
