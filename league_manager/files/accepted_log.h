#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "league_manager/files/journal_content.h"

namespace league::league_manager {

/// What the manager's own conversation log below `logs` says was accepted (registrations, results)
/// and `content` lacks, as a text; nothing if it lacks none of it. A file of the log that was not
/// sealed with the key in `log_key` is another manager's and says nothing.
///
/// A journal loses its end, never its beginning, so the end of the log is enough: its newest files
/// are read, from 64 MiB before the end, and older ones only until something was accepted.
[[nodiscard]] std::optional<std::string> accepted_beyond(const std::filesystem::path& logs,
                                                         const std::string& league_id,
                                                         const std::filesystem::path& log_key,
                                                         const JournalContent& content);

}  // namespace league::league_manager
