#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/core/result.h"
#include "league_manager/core/league.h"

namespace league::league_manager::service {

/// Facts about a finished match that the league itself does not keep.
struct MatchNote {
  game::MatchResult result;
  std::map<int, events::FailureCause> causes;  ///< of a technical loss, by player
};

/// Why `player_id` lost `match`, or how the match ended if that player did not lose or none is
/// given: lines for a model that explains it to the bot's owner. Texts from bots (names, texts of
/// failures) are JSON strings and marked as such. Only facts that the manager publishes; nothing
/// about a running match. Without a note the choices and causes are left out. Fails with
/// kMatchNotFound or kInvalidFieldValue, for a player that was not in the match. Pure.
[[nodiscard]] core::Result<std::string> explain_match(const League& league, events::MatchKey match,
                                                      const std::optional<MatchNote>& note,
                                                      const std::string& player_id);

}  // namespace league::league_manager::service
