#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "tools/audit/evidence/verify_facts.h"

namespace league::tools::auditor {

/// Whether two headers name the same league: by its key, or by its id if one of them lacks the key.
/// Two headers that name no league are of the same unknown league.
[[nodiscard]] bool is_same_league(const audit::log::LeagueIdentity& a,
                                  const audit::log::LeagueIdentity& b);
/// The league's identity from both headers together.
[[nodiscard]] audit::log::LeagueIdentity merged(const audit::log::LeagueIdentity& a,
                                                const audit::log::LeagueIdentity& b);
/// Appends `more` to `facts`; both are from one log, about one league.
void append_facts(LogFacts&& more, LogFacts& facts);

}  // namespace league::tools::auditor
