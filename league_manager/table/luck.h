#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>

#include "league_manager/table/figures.h"

namespace league::league_manager::table {

/// The probability that results are at least as uneven as these if every match that was won could
/// as well have been won by the other player, and every match drawn as well as any other; nothing
/// without a match that was won, or if it was stopped. Players are below `players`. Source:
/// docs/table.md.
[[nodiscard]] std::optional<double> luck_of(std::size_t players,
                                            std::span<const CountedMatch> matches,
                                            std::uint64_t seed, const std::stop_token& stop);

}  // namespace league::league_manager::table
