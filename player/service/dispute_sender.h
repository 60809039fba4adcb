#pragma once

#include "common/agent/identity/registration.h"
#include "player/core/history.h"

namespace league::player::service {

/// The dependencies of send_dispute; all references must outlive its calls.
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

}  // namespace league::player::service
