#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/files/journal_content.h"

namespace league::league_manager::files {

/// Other files that prove what a league's journal must contain.
struct EvidencePaths {
  DataDirectory data;
  std::filesystem::path logs;  ///< of conversations; may be missing
  std::string league_id;  ///< of the expected league, if the journal names none
};

/// The facts in other files of a league that its journal lacks, one text for each file (it names
/// the file and the fact); none if the journal has lost nothing. Compares the journal's mark, the
/// manager's tables, the matches that its referees have finished, and what the manager's own
/// conversation log says was accepted. Files of another manager or of an earlier league do not
/// count: players' histories and agents' identities outlive their league.
[[nodiscard]] std::vector<std::string> find_missing(const EvidencePaths& places,
                                                    const JournalContent& content);

/// The error for a journal that lacks facts from other files of its league (`missing`); its text
/// says what the operator can do.
[[nodiscard]] core::Error behind_error(const std::filesystem::path& journal,
                                       const JournalContent& content,
                                       const std::vector<std::string>& missing);

/// Checks before a journal is opened that an empty or missing one never belonged to a league.
[[nodiscard]] core::Result<void> check_empty_journal(const EvidencePaths& places);

/// Checks that the journal holds everything that other files of the league claim; fails with
/// `behind_error`. `has_followed`: another manager wrote entries before. Then files that claim more
/// are of entries that the league went on without, and are only reported.
[[nodiscard]] core::Result<void> check_journal(const journal::Journal& journal,
                                               const EvidencePaths& places, bool has_followed);

}  // namespace league::league_manager::files
