#pragma once

#include <optional>
#include <string>

#include "common/journal/journal.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/events.h"
#include "league_manager/events/settings.h"

namespace league::league_manager {

class League;
class Ledger;

/// What the operator said about the league when the manager was started; nothing: not said.
struct WantedLeague {
  std::optional<std::string> league_id;
  std::optional<int> players;
  std::optional<int> referees;
};

/// The first event of a journal; nothing for an empty one.
[[nodiscard]] core::Result<std::optional<LeagueCreated>> read_creation(
    const journal::Journal& journal);

/// Makes `settings` those of the league that is continued. Fails when the operator wants another
/// one (names the option, both values and what to do), or when `games` lacks the league's game.
[[nodiscard]] core::Result<void> continue_with(LeagueSettings& settings,
                                               const LeagueCreated& creation,
                                               const WantedLeague& wanted,
                                               const game::Registry& games);

/// Writes down that the league goes on without what its journal lacks. Blocks until that is
/// durable.
[[nodiscard]] core::Result<void> note_given_up(Ledger& ledger, const std::string& what);

/// Completes `settings` with the public key of the issuer's league. Fails when the league
/// that is continued has another one.
[[nodiscard]] core::Result<void> take_league_key(LeagueSettings& settings,
                                                 const TokenIssuer& token_issuer);

/// Whether the key that is at hand gives the tokens of the league's agents.
[[nodiscard]] core::Result<void> check_token_issuer(const League& league,
                                                    const TokenIssuer& token_issuer);

}  // namespace league::league_manager
