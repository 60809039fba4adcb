#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/envelope/error_messages.h"
#include "common/envelope/game_messages.h"
#include "common/envelope/query_messages.h"
#include "common/envelope/round_messages.h"
#include "league_manager/admission/token_issuer.h"
#include "league_manager/core/league.h"

namespace league::league_manager::rounds {

/// The league in the types of the wire. Pure functions of a league that the caller has locked.

/// The whole table by rank.
[[nodiscard]] std::vector<envelope::StandingsRow> standings_rows(const League& league);

/// A part of the table: `limit` rows from `offset`. Before the start: who has registered.
[[nodiscard]] std::vector<envelope::StandingsRow> standings_page(const League& league,
                                                                 std::size_t offset,
                                                                 std::size_t limit);

/// A match of the current round as everybody sees it.
[[nodiscard]] envelope::AnnouncedMatch announced_match(const League& league,
                                                       events::MatchKey match);

/// All matches of the current round, as everybody sees them. Empty before the first round.
[[nodiscard]] std::vector<envelope::AnnouncedMatch> announced_matches(const League& league);

/// The credential that `referee` shows the players of its matches: `match`, or for a third-party
/// one whose unproven results are accepted `token:HASH` or `none`; nothing for no referee. Protocol
/// §8.
[[nodiscard]] std::optional<std::string> referee_credential(const League& league, int referee);

/// The origin of seats, see RoundDependencies::seats_at.
using SeatsAt = std::function<std::string(const std::string& manager_url)>;

/// The address at which `referee` calls the player with this `endpoint`.
[[nodiscard]] std::string called_at(const std::string& endpoint,
                                    const events::AgentProfile& referee, const SeatsAt& seats_at);

/// One match with everything that its referee needs; only for a match that is assigned now.
[[nodiscard]] std::optional<envelope::MatchAssignment> match_assignment(
    const League& league, events::MatchKey match, const admission::TokenIssuer& token_issuer,
    const SeatsAt& seats_at);

/// A match of the schedule, for GET_SCHEDULE.
[[nodiscard]] envelope::ScheduledMatch scheduled_match(const League& league, const MatchView& view);

/// The next match of `player`, for GET_NEXT_MATCH; nothing after its last.
[[nodiscard]] std::optional<envelope::NextMatch> next_match(const League& league, int player);

/// One player's row.
[[nodiscard]] std::optional<envelope::StandingsRow> player_row(const League& league, int player);

/// The finished matches of `player` that count, at most `limit` from the `offset`-th, as it sees
/// them.
[[nodiscard]] std::vector<envelope::PlayedMatchRow> played_matches(const League& league, int player,
                                                                   std::size_t offset,
                                                                   std::size_t limit);

/// The ids of all players with rank 1 in a completed league: one id, unless first place is shared.
[[nodiscard]] std::vector<std::string> shared_first_place(const League& league);

/// Champion, table and totals of a completed league.
[[nodiscard]] envelope::LeagueCompleted league_completed(const League& league);

/// How a completed round went.
[[nodiscard]] envelope::RoundCompleted round_completed(const League& league, int round);

}  // namespace league::league_manager::rounds
