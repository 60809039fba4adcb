#pragma once

#include <filesystem>

#include "common/core/result.h"

namespace league::journal {

/// Copies a journal in the state between two commits, whether or not a process is writing it.
/// `copy` must not exist; when this returns, it is on the disk and every entry has been checked.
/// Fails if the journal is damaged or cannot be read; then there is no copy.
[[nodiscard]] core::Result<void> copy_journal(const std::filesystem::path& journal,
                                              const std::filesystem::path& copy);

}  // namespace league::journal
