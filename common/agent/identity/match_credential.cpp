#include "common/agent/identity/match_credential.h"

#include <string>

#include "common/core/crypto.h"

namespace league::agent::identity {

namespace {

core::AuthToken derived(const core::AuthToken& player_token, const std::string& text) {
  return core::AuthToken(
      core::to_hex(core::hmac_sha256(core::as_bytes(player_token.reveal()), core::as_bytes(text))));
}

std::string attempt_of(const core::MatchId& match, int attempt) {
  return match.str() + '#' + std::to_string(attempt);
}

}  // namespace

core::AuthToken match_credential(const core::AuthToken& player_token, const core::MatchId& match,
                                 int attempt) {
  return derived(player_token, attempt_of(match, attempt));
}

core::AuthToken answer_credential(const core::AuthToken& player_token, const core::MatchId& match,
                                  int attempt) {
  return derived(player_token, "answer|" + attempt_of(match, attempt));
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
