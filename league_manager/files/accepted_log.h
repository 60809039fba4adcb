#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "league_manager/files/journal_content.h"

namespace league::league_manager::files {

/// Registrations and results that were accepted according to the manager's own conversation log
/// below `logs` but are missing in `content`, as a text; nothing if none is missing. Ignores files
/// of the log that were sealed with another key than that in `log_key`: they are another manager's.
///
/// A journal loses its end, never its beginning, so the end of the log is enough: its newest files
/// are read, from 64 MiB before the end, and older ones only until something was accepted.
[[nodiscard]] std::optional<std::string> accepted_beyond(const std::filesystem::path& logs,
                                                         const std::string& league_id,
                                                         const std::filesystem::path& log_key,
                                                         const JournalContent& content);

}  // namespace league::league_manager::files
