#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "common/core/auth_token.h"
#include "common/core/ids.h"
#include "common/core/random_source.h"
#include "common/core/result.h"
#include "common/core/signing_key.h"

namespace league::league_manager::admission {

/// Makes the tokens of a league. A token is `tok_{id, lower case}_` and HMAC-SHA-256(K,
/// `league|id|nonce`) in 52 lower-case base-32 characters. K is 256 random bits; no other stored
/// value is a credential, and any token can be recomputed from its nonce. Immutable, so
/// thread-safe. Source: protocol §8.
class TokenIssuer {
 public:
  using Key = std::array<std::uint8_t, 32>;

  /// An issuer whose key lives in memory only.
  TokenIssuer(core::LeagueId league, core::RandomSource& random);
  /// An issuer whose key is kept in `file` (mode 0600), which is made at the first start.
  /// Refuses a file that others may read or that does not hold a key.
  [[nodiscard]] static core::Result<TokenIssuer> open(core::LeagueId league,
                                                      const std::filesystem::path& file,
                                                      core::RandomSource& random);

  /// The token of agent `id` (`P01`, `REF01`) for the registration with `nonce`.
  [[nodiscard]] core::AuthToken token(const std::string& id, const std::string& nonce) const;
  /// The key of a player's receipts, for the credential with `nonce`: HMAC-SHA-256(K,
  /// `receipt|league|id|nonce`) in hexadecimal. Source: protocol §7.
  [[nodiscard]] std::string receipt_key(const std::string& id, const std::string& nonce) const;
  /// The key that admits referees, unless the operator has chosen another one: `ref_` and
  /// HMAC-SHA-256(K, `referees` followed by the league's id) in base 32, so everyone with K gets
  /// the same key.
  [[nodiscard]] core::AuthToken referee_key() const;
  /// The form in which a registration code may be stored: HMAC-SHA-256(K, `codes`, the league's id,
  /// `|` and the code) in hexadecimal.
  [[nodiscard]] std::string code_digest(std::string_view code) const;
  /// Signs in the league's name, for example published broadcasts; its public key is the league's
  /// identity. Ed25519 with the seed HMAC-SHA-256(K, `broadcast` followed by the league's id), so
  /// everyone with K makes the same signatures.
  [[nodiscard]] core::SigningKey league_key() const;

 private:
  TokenIssuer(core::LeagueId league, const Key& key) : league_(std::move(league)), key_(key) {}

  core::LeagueId league_;
  Key key_{};
};

}  // namespace league::league_manager::admission
