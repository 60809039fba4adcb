#pragma once

#include <optional>

#include "common/agent/dialects/reply_dialect.h"
#include "common/agent/peers/peer_client.h"

namespace league::agent::peers {

/// Compares the ids in an answer (sender, conversation, league, round) with those of its call. A
/// different one is an error in strict mode, and added to `taken` in open mode. Ids that the call
/// does not have, and optional ones that the answer leaves out, are not compared. Source: protocol
/// §2.
[[nodiscard]] core::Result<void> compare_names(const PeerCall& call,
                                               const envelope::Envelope& reply, envelope::Mode mode,
                                               envelope::Leniencies& taken);

/// Whether an answer of a player names another player than the called one.
[[nodiscard]] bool names_other_player(const envelope::AnswerMessage& answer,
                                      const std::optional<core::PlayerId>& called);

/// If the player id in an answer is not that of the called player, replaces it and notes the
/// leniency: some bots answer with the id that they were started with, but the answer came on the
/// connection that we opened to the player. For open mode.
void note_foreign_player(dialects::IncomingReply& reply,
                         const std::optional<core::PlayerId>& called);

}  // namespace league::agent::peers
