#pragma once

#include <string_view>

namespace league::rpc {

/// The fault text (MessageNotes) of an answer after which the same call is sent again in another
/// dialect, with the verdict E007. The caller is finding out how its peer wants to be called, so
/// nobody is at fault.
inline constexpr std::string_view kTriesAnotherName =
    "the peer does not know the method; trying another way of calling";
inline constexpr std::string_view kTriesLeagueAgent =
    "the peer is not an MCP server; calling it as a league agent";
inline constexpr std::string_view kTriesPlainMcp =
    "the peer does not take the call; trying it as a plain MCP server";

/// Whether `fault` is one of these texts.
[[nodiscard]] constexpr bool is_search_for_dialect(std::string_view fault) {
  return fault == kTriesAnotherName || fault == kTriesLeagueAgent || fault == kTriesPlainMcp;
}

}  // namespace league::rpc
