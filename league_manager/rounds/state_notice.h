#pragma once

#include "common/core/ids.h"
#include "common/envelope/error_messages.h"
#include "league_manager/events/events.h"

namespace league::league_manager::rounds {

/// The LEAGUE_ERROR that tells an agent its new state, the reason and what it can do.
[[nodiscard]] envelope::LeagueError state_notice(const events::AgentStateChanged& change,
                                                 bool is_started = true);

/// The conversation of all such notices to one agent.
[[nodiscard]] core::ConversationId state_conversation(events::AgentRef agent);

/// The LEAGUE_ERROR that tells a player that its receipts for `match` are missing or false.
[[nodiscard]] envelope::LeagueError receipt_notice(events::MatchKey match,
                                                   events::ReceiptState state);
/// The conversation of that notice.
[[nodiscard]] core::ConversationId receipt_conversation(events::MatchKey match);

}  // namespace league::league_manager::rounds
