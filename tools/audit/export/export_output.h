#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/draft_file.h"

namespace league::tools::auditor {

/// One file that an export writes.
struct OutputFile {
  std::filesystem::path path;
  std::function<core::Result<void>(core::DraftFile&)> write;
  /// Whether an existing file was made by an export, so that it may be replaced.
  std::function<bool(const std::filesystem::path&)> is_ours;
};

struct OutputOptions {
  bool may_overwrite = false;  ///< also other files, but never a link or a directory
};

/// Writes all files, each completely or not at all, and creates their directories. Writes none if
/// one of them would replace something else; the error names that and what to do.
[[nodiscard]] core::Result<void> write_output(const std::vector<OutputFile>& files,
                                              const OutputOptions& options);

/// The text of a file for OutputFile::write.
[[nodiscard]] std::function<core::Result<void>(core::DraftFile&)> text_of(std::string text);

/// The first 64 KiB of a file.
[[nodiscard]] std::string head_of_file(const std::filesystem::path& file);

/// Whether the file begins with a JSON object that has `schema_version` and this `league_id`, as
/// the files of the data layout do.
[[nodiscard]] bool is_file_of_league(const std::filesystem::path& file, std::string_view league_id);

}  // namespace league::tools::auditor
