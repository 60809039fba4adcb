#pragma once

#include <optional>
#include <string>

#include "common/agent/runtime/settings.h"
#include "common/journal/journal.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/events/events.h"
#include "league_manager/events/settings.h"

namespace league::league_manager {
class League;
}  // namespace league::league_manager

namespace league::league_manager::files {
class Ledger;
}  // namespace league::league_manager::files

namespace league::league_manager::service {

/// The league that the operator asked for at the start; nothing: not specified.
struct WantedLeague {
  std::optional<std::string> league_id;
  std::optional<int> players;
  std::optional<int> referees;
  game::SharedDefinition game = nullptr;
  std::optional<int> meetings = std::nullopt;
};

/// The settings of a new league: limits from the settings file, defaults for the rest. Unless the
/// file sets it, the limit of a match is the time for all of its calls with all attempts, plus ten
/// seconds (protocol §6).
[[nodiscard]] events::LeagueSettings settings_from(const agent::runtime::Settings& limits);

/// The first event of a journal; nothing for an empty one.
[[nodiscard]] core::Result<std::optional<events::LeagueCreated>> read_creation(
    const journal::Journal& journal);

/// Sets `settings` to those of the league that is continued. Fails if the operator wants another
/// one (names the option, both values and what to do), or if the league's game is unknown.
[[nodiscard]] core::Result<void> continue_with(events::LeagueSettings& settings,
                                               const events::LeagueCreated& creation,
                                               const WantedLeague& wanted);

/// Records that the league continues without the events that its journal lacks (`what`; nothing:
/// none). Blocks until that is durable.
[[nodiscard]] core::Result<void> note_given_up(files::Ledger& ledger,
                                               const std::optional<std::string>& what);

/// Sets the league key in `settings` to the issuer's public key. Fails if the league that is
/// continued has another key.
[[nodiscard]] core::Result<void> take_league_key(events::LeagueSettings& settings,
                                                 const admission::TokenIssuer& token_issuer);

/// Checks that our key produces the tokens of the league's agents.
[[nodiscard]] core::Result<void> check_token_issuer(const League& league,
                                                    const admission::TokenIssuer& token_issuer);

}  // namespace league::league_manager::service
