#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace league::audit::log {

inline constexpr std::string_view kLogEnding = ".log.jsonl";

/// The files of one agent's log in their order: closed segments, compressed or not, then the one
/// that was written last, which may be missing.
struct LogSegments {
  std::filesystem::path path;  ///< without a number, as AuditLog names it
  std::vector<std::filesystem::path> files;
};

/// The logs below `directory`, sorted; also those of which only the seal is left.
[[nodiscard]] std::vector<LogSegments> find_log_segments(const std::filesystem::path& directory);

}  // namespace league::audit::log
