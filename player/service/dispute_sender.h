#pragma once

#include "common/agent/identity/registration.h"
#include "common/envelope/query_messages.h"
#include "player/core/history.h"

namespace league::player::service {

/// The dependencies of these queries; all references must outlive their calls.
struct DisputeContext {
  agent::peers::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  const agent::runtime::Settings& settings;
  transport::link::Endpoint manager;
};

/// Tells the league manager, with the player's own token, that `match` is disputed: LEAGUE_QUERY
/// DISPUTE_MATCH (protocol §4, message 15). An unanswered call is retried like any other; if all
/// attempts fail, only the player's own log and history contain the dispute. Asynchronous.
void send_dispute(const DisputeContext& context, const agent::identity::Identity& identity,
                  const DisputedMatch& match);

/// Asks the league manager for the results of the player's matches (GET_PLAYER_STATS), and passes
/// them on if it answers. Otherwise like send_dispute.
void ask_for_results(const DisputeContext& context, const agent::identity::Identity& identity,
                     std::function<void(const std::vector<envelope::PlayedMatchRow>&)> results);

}  // namespace league::player::service
