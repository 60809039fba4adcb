#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "tools/audit/evidence/verify_facts.h"

namespace league::tools {

/// Whether two headers speak of one league: by its key, or where one of them does not say it by its
/// id. Two that say nothing are of one unknown league.
[[nodiscard]] bool is_same_league(const audit::LeagueIdentity& a, const audit::LeagueIdentity& b);
/// What both headers together say of one league.
[[nodiscard]] audit::LeagueIdentity merged(const audit::LeagueIdentity& a,
                                           const audit::LeagueIdentity& b);
/// Adds what one log says of a league to what it says of the same league elsewhere.
void append_facts(LogFacts&& more, LogFacts& facts);

}  // namespace league::tools
