#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/core/signing_key.h"

namespace league::agent::bus {

/// A message that is published once for everybody cannot carry one receiver's token, so it is
/// signed instead: the payload contains `"signature":"S"` once, where S is 128 hexadecimal digits,
/// and the signature covers the payload's bytes without S. To check it, remove the first occurrence
/// of S from the received bytes; this works with any JSON library. All functions are thread-safe.
/// Source: protocol §10.

/// Returns `unsigned_text` with its signature; it must contain `"signature":""` once.
[[nodiscard]] std::string sign_event(std::string unsigned_text, const core::SigningKey& key);

/// Fails with kAuthTokenMissing if `payload` has no signature (`signature` is the value in its
/// `params`, empty if there is none), and with kAuthTokenInvalid if the signature was not made with
/// the key that belongs to `public_key` (64 hexadecimal digits).
[[nodiscard]] core::Result<void> check_event_signature(std::string_view payload,
                                                       std::string_view signature,
                                                       std::string_view public_key);

/// The payload as it would look in a call to one agent: with that agent's token in place of the
/// signature. Nothing if the signature is not the value of the key `signature`.
[[nodiscard]] std::optional<std::string> with_token_for_signature(std::string_view payload,
                                                                  std::string_view signature,
                                                                  std::string_view token);

}  // namespace league::agent::bus
