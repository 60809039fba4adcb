#pragma once

#include <filesystem>
#include <optional>

#include "common/core/result.h"
#include "league_manager/files/league_book.h"

namespace league::league_manager::files {

/// The journal in the data directory `data`, read to its end; works beside a running manager. Fails
/// when it is damaged or empty.
[[nodiscard]] core::Result<LeagueBook> read_book(const std::filesystem::path& data);

/// The data directory of a league: `directory`, or `directory/data`; nothing where neither holds a
/// journal.
[[nodiscard]] std::optional<std::filesystem::path> find_data(
    const std::filesystem::path& directory);

}  // namespace league::league_manager::files
