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
/// A journal loses its end, never its beginning, so it is enough to read the end of the log: its
/// last 64 MiB, or, if these contain no accepted registration or result, more until one is found.
[[nodiscard]] std::optional<std::string> accepted_beyond(const std::filesystem::path& logs,
                                                         const std::string& league_id,
                                                         const std::filesystem::path& log_key,
                                                         const JournalContent& content);

}  // namespace league::league_manager::files
