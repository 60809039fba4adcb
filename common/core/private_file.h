#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/draft_file.h"
#include "common/core/result.h"

namespace league::core {

/// The content of a file with a secret; nothing if there is no such file. Refuses a file that
/// others may read and one of more than `longest` bytes. In the directory of a systemd unit's
/// credentials ($CREDENTIALS_DIRECTORY) the group's right to read does not count.
[[nodiscard]] Result<std::optional<std::string>> read_private_file(
    const std::filesystem::path& file, std::size_t longest = std::size_t{64} * 1024);

/// The secret in the content of a file: its first line without a byte order mark and without blanks
/// at its ends. Empty if there is none.
[[nodiscard]] std::string_view secret_line(std::string_view content);

/// Writes a file that only its owner can read (mode 0600) in place of whatever was there: after a
/// crash either the old or the new content is there, whole. With kNow the content is on the
/// disk when this returns; with kLater it survives the process, but perhaps not a loss of power.
/// Not for two writers of one file at a time.
[[nodiscard]] Result<void> write_private_file(const std::filesystem::path& file,
                                              std::string_view content, Flush flush = Flush::kNow);

}  // namespace league::core
