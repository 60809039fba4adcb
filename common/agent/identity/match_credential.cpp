#include "common/agent/identity/match_credential.h"

#include <string>

#include "common/core/crypto.h"

namespace league::agent::identity {

core::AuthToken match_credential(const core::AuthToken& player_token, const core::MatchId& match,
                                 int attempt) {
  std::string text = match.str() + '#' + std::to_string(attempt);
  return core::AuthToken(
      core::to_hex(core::hmac_sha256(core::as_bytes(player_token.reveal()), core::as_bytes(text))));
}

std::optional<int> credential_attempt(const core::AuthToken& player_token,
                                      const core::MatchId& match, std::string_view credential,
                                      int max_attempts) {
  for (int attempt = 1; attempt <= max_attempts; ++attempt) {
    if (match_credential(player_token, match, attempt).matches(credential)) return attempt;
  }
  return std::nullopt;
}

}  // namespace league::agent::identity
