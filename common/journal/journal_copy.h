#pragma once

#include <filesystem>

#include "common/core/result.h"

namespace league::journal {

/// Makes a copy of a journal, as it is at one moment between two commits, beside its running writer
/// or none. `copy` must not exist; when this returns, it is on the disk, whole and checked entry by
/// entry. Fails when the journal is damaged or cannot be read; then there is no copy.
[[nodiscard]] core::Result<void> copy_journal(const std::filesystem::path& journal,
                                              const std::filesystem::path& copy);

}  // namespace league::journal
