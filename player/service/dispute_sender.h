#pragma once

#include "common/agent/identity/registration.h"
#include "player/core/history.h"

namespace league::player {

/// What telling the league manager of a dispute needs; all references outlive it.
struct DisputeContext {
  agent::PeerClient& peers;
  core::Timer& timer;
  const core::Clock& clock;
  const agent::Settings& settings;
  transport::Endpoint manager;
};

/// Tells the league manager, with the player's own token, that `match` is disputed: LEAGUE_QUERY
/// DISPUTE_MATCH (protocol §4, message 15). A call that is not answered is made again as often as
/// any other; then the player's own log and history are all that says so. Asynchronous.
void send_dispute(const DisputeContext& context, const agent::Identity& identity,
                  const DisputedMatch& match);

}  // namespace league::player
