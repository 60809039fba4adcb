#pragma once

#include <optional>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/peers/peer_client.h"

namespace league::agent {

/// Compares the names in an answer (sender, conversation, league, round) with those of its call:
/// another one is an error in strict mode, and added to `taken` in open mode. What the call does
/// not name, or an optional one that the answer leaves out, is not compared. Source: protocol §2.
[[nodiscard]] core::Result<void> compare_names(const PeerCall& call,
                                               const envelope::Envelope& reply, envelope::Mode mode,
                                               envelope::Leniencies& taken);

/// Puts the id of the player that was called into an answer that has another one, and notes it:
/// bots answer with the id that they were started with, and it came on the connection that we
/// opened to that player. For open mode.
void note_foreign_player(IncomingReply& reply, const std::optional<core::PlayerId>& called);

}  // namespace league::agent
