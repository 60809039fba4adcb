#pragma once

#include <string>

#include "common/envelope/query_messages.h"
#include "league_manager/core/league.h"

namespace league::league_manager::service {

/// The maximum number of rows in one answer; the rest is available with `offset`.
inline constexpr int kQueryPage = 200;

/// The answer to a query of the registered agent `asker` (`P01`, `REF01`). GET_NEXT_MATCH and
/// GET_PLAYER_STATS are about `query_params.player_id`, or the asker. Pure. Source: protocol §4,
/// messages 15 and 16.
[[nodiscard]] envelope::LeagueQueryResponse answer_query(const League& league,
                                                         const std::string& asker,
                                                         const envelope::LeagueQuery& query);

/// The events of DISPUTE_MATCH of the registered agent `asker`: see League::decide_dispute. Fails
/// also if `params` names no match or `asker` is not a player. Pure.
[[nodiscard]] core::Result<events::Events> decide_dispute(const League& league,
                                                          const std::string& asker,
                                                          const envelope::QueryParams& params,
                                                          core::UtcTimestamp now);
/// The answer to DISPUTE_MATCH; `refusal` where it was refused.
[[nodiscard]] envelope::LeagueQueryResponse dispute_answer(
    const std::optional<core::Error>& refusal);

}  // namespace league::league_manager::service
