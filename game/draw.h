#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/core/crypto.h"
#include "common/core/result.h"
#include "game/commitment.h"
#include "game/definition.h"

namespace league::game {

/// The 256 bits from which a match's number is drawn; made by the league manager. Source: protocol
/// §7.
using Seed = core::Digest;

/// Parses a seed of 64 hexadecimal digits. Fails with kInvalidFieldValue.
[[nodiscard]] core::Result<Seed> parse_seed(std::string_view hex);

/// Lower-case hexadecimal SHA-256 of the seed's 32 bytes followed by the match id: what is promised
/// before anybody chooses.
[[nodiscard]] std::string draw_commitment(const Seed& seed, std::string_view match_id);

/// The version of the draw: 2 if a commitment counts, otherwise 1.
[[nodiscard]] int draw_version(const Bindings& bindings);

/// The data from which a match's number is computed.
struct DrawInput {
  const Seed& seed;
  std::string_view match_id;
  const Choices& choices;
  const Bindings& bindings;  ///< only nonces of commitments that count are used
};

/// The number of a match, so that anybody who has the input can check it in any language:
///
///   counter = 0
///   repeat:
///     version 1: message = match_id "|" choice of A "|" choice of B "|" counter
///     version 2: message = match_id "|" choice of A "|" choice of B "|" nonce of A "|" nonce of B
///                "|" counter      (a nonce that does not count is empty)
///     digest = HMAC-SHA-256(key = the 32 bytes of the seed, message in ASCII, counter in decimal)
///     for each of the 32 bytes of the digest, first to last:
///       if byte < 256 - 256 mod size (250 for ten numbers):
///         the number is lowest + byte mod size; stop
///     counter = counter + 1
///
/// Bytes from the bound on are thrown away because they would make the low numbers more likely.
[[nodiscard]] int draw_number(const DrawInput& input, const NumberRange& range);

}  // namespace league::game
