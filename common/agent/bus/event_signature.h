#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/result.h"
#include "common/core/signing_key.h"

namespace league::agent {

/// What is published once for everybody shows nobody's token. It is signed instead: the payload
/// holds one `"signature":"S"`, where S is 128 hexadecimal digits, and what is signed are the
/// payload's bytes with S taken out. So who checks it takes the first S out of the bytes that came,
/// whatever the JSON library. Thread-safe, like all of this. Source: protocol §8.

/// `unsigned_text` with its signature; it contains `"signature":""` once.
[[nodiscard]] std::string sign_event(std::string unsigned_text, const core::SigningKey& key);

/// Fails with kAuthTokenMissing where `payload` has no signature (`signature` is what stands in its
/// `params`, empty for nothing), and with kAuthTokenInvalid where it is not that of `public_key`,
/// 64 hexadecimal digits.
[[nodiscard]] core::Result<void> check_event_signature(std::string_view payload,
                                                       std::string_view signature,
                                                       std::string_view public_key);

/// The payload as it would have come by a call to one agent: with that agent's token in place of
/// the signature. Nothing where the signature is not a value of the key `signature`.
[[nodiscard]] std::optional<std::string> with_token_for_signature(std::string_view payload,
                                                                  std::string_view signature,
                                                                  std::string_view token);

}  // namespace league::agent
