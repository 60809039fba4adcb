#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "league_manager/files/data_directory.h"
#include "league_manager/files/journal_content.h"

namespace league::league_manager {

/// Other files that prove what a league's journal must contain.
struct EvidencePlaces {
  DataDirectory data;
  std::filesystem::path logs;  ///< of conversations; may be missing
  std::string league_id;  ///< of the league that is meant where the journal names none
};

/// What other files of a league hold and its journal lacks, one text a file (it names the file, and
/// what it says); none where the journal has lost nothing. Compared are the journal's mark, the
/// manager's tables, the matches that its referees have finished, and what the manager's own
/// conversation log says was accepted. Files that belong to another manager or to an earlier league
/// claim nothing: players' histories and agents' identities outlive their league.
[[nodiscard]] std::vector<std::string> find_missing(const EvidencePlaces& places,
                                                    const JournalContent& content);

/// The error text about a journal that is behind, with what the operator can do.
[[nodiscard]] core::Error behind_error(const std::filesystem::path& journal,
                                       const JournalContent& content,
                                       const std::vector<std::string>& missing);

/// Before a journal is opened: whether one that is empty or gone has never been a league's.
[[nodiscard]] core::Result<void> check_empty_journal(const EvidencePlaces& places);

/// What becomes of a journal that is behind.
struct LossPolicy {
  /// Another manager led before. What it did not hand on is lost by the rules of `async`, and only
  /// told.
  bool has_followed = false;
  bool accepts_loss = false;  ///< the operator goes on without: what claims more is set aside
};

/// Whether the journal holds all that other files of the league do; fails with `behind_error`. What
/// was given up comes back as a text for the journal; nothing where nothing was.
[[nodiscard]] core::Result<std::optional<std::string>> check_journal(
    const journal::Journal& journal, const EvidencePlaces& places, const LossPolicy& policy,
    const core::Clock& clock);

}  // namespace league::league_manager
