#pragma once

#include "common/agent/peers/peer_client.h"
#include "common/envelope/round_messages.h"
#include "common/transport/link/endpoint.h"
#include "common/transport/link/endpoint_policy.h"
#include "referee/core/match_types.h"

namespace league::referee::service {

/// What the assignment says about one player of a match.
struct PlayerSeat {
  core::PlayerId id;
  transport::link::Endpoint endpoint;
  core::AuthToken
      credential;  ///< what the referee shows instead of a token of its own (protocol §8)
  std::string token_hash;  ///< of the token that the player must show; empty: unknown
  std::string answer_hash;  ///< of the answer credential, which it may show instead; empty: none
  bool has_receipts = false;
  std::optional<agent::dialects::CallStyle> style;
  envelope::WinLossDraw standings;
  bool is_suspended = false;  ///< gets one ping, then one attempt per call (protocol §6)
  std::optional<envelope::AnswerLimits> limits = {};  ///< its own (protocol §10)
};

/// Whether `shown` is the token or the answer credential of the player in this seat.
[[nodiscard]] bool is_credential_of(const PlayerSeat& seat, const core::AuthToken& shown);

/// The two players of an assignment. Fails with kEndpointNotAllowed if an address is invalid, or is
/// a Unix socket or a command that `policy` does not allow: the manager admits addresses, but only
/// the operator of this machine decides what runs on it.
[[nodiscard]] core::Result<PerSide<PlayerSeat>> seats_of(
    const envelope::MatchAssignment& assignment,
    const transport::link::EndpointPolicy& policy = transport::link::EndpointPolicy::any());

/// Checks the credential in a player's reply, and notes that the player said it. In open mode a
/// missing or foreign token is a noted leniency, in strict mode it is kAuthTokenMissing or
/// kAuthTokenInvalid. Source: protocol §8.
[[nodiscard]] core::Result<void> check_reply_token(const PlayerSeat& seat,
                                                   const std::optional<core::AuthToken>& shown,
                                                   envelope::Mode mode, rpc::MessageNotes& notes);

}  // namespace league::referee::service
