#pragma once

#include <optional>

#include "common/core/auth_token.h"
#include "common/core/ids.h"

namespace league::agent::identity {

/// The credential that a referee shows to a player instead of a token of its own: HMAC-SHA-256 over
/// `MATCH_ID#ATTEMPT` (`R1M1#1`) with the player's token as the key, in lower-case hexadecimal.
/// Only the manager and that player can compute it, and the manager does not accept it as a token.
/// Source: protocol §8.
[[nodiscard]] core::AuthToken match_credential(const core::AuthToken& player_token,
                                               const core::MatchId& match, int attempt);

/// What a player that declared receipts shows to a referee instead of its token, in answers to
/// calls that carried a match credential: HMAC-SHA-256 over `answer|MATCH_ID#ATTEMPT`, as above.
/// Source: protocol §8.
[[nodiscard]] core::AuthToken answer_credential(const core::AuthToken& player_token,
                                                const core::MatchId& match, int attempt);

/// The attempt of `match`, among the first `max_attempts`, that `credential` is for; nothing if
/// there is none. A player uses it to authenticate a referee.
[[nodiscard]] std::optional<int> credential_attempt(const core::AuthToken& player_token,
                                                    const core::MatchId& match,
                                                    std::string_view credential,
                                                    int max_attempts = 16);

}  // namespace league::agent::identity
