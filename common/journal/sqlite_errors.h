#pragma once

#include <filesystem>
#include <string>

#include "common/core/result.h"

namespace SQLite {  // NOLINT(readability-identifier-naming)
class Exception;
}

namespace league::journal {

/// Errors about a journal's file, for the operator: kInternalError with the file, what is wrong and
/// what to do. Pure, so safe from any thread.
[[nodiscard]] core::Error journal_error(const std::filesystem::path& file, const std::string& why);
[[nodiscard]] core::Error damaged(const std::filesystem::path& file, const std::string& what);
/// An exception of SQLite.
[[nodiscard]] core::Error explained(const std::filesystem::path& file,
                                    const SQLite::Exception& problem);

}  // namespace league::journal
