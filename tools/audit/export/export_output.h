#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/draft_file.h"

namespace league::tools {

/// One file that an export writes.
struct OutputFile {
  std::filesystem::path path;
  std::function<core::Result<void>(core::DraftFile&)> write;
  /// Whether a file that stands there is of our making, so that it may be replaced.
  std::function<bool(const std::filesystem::path&)> is_ours;
};

struct OutputOptions {
  bool may_overwrite = false;  ///< also what is not ours, but never a link or a directory
};

/// Writes all files, each whole or not at all, with their directories. Writes none when one of them
/// would take the place of something else; the error names it and what to do.
[[nodiscard]] core::Result<void> write_output(const std::vector<OutputFile>& files,
                                              const OutputOptions& options);

/// The text of a file for OutputFile::write.
[[nodiscard]] std::function<core::Result<void>(core::DraftFile&)> text_of(std::string text);

/// The first 64 KiB of a file.
[[nodiscard]] std::string head_of_file(const std::filesystem::path& file);

/// Whether the file begins with a JSON object that has `schema_version` and this `league_id`, as
/// the files of the data layout do.
[[nodiscard]] bool is_file_of_league(const std::filesystem::path& file, std::string_view league_id);

}  // namespace league::tools
