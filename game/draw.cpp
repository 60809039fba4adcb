#include "game/draw.h"

#include <algorithm>

namespace league::game {

core::Result<Seed> parse_seed(std::string_view hex) {
  auto bytes = core::from_hex(hex);
  Seed seed{};
  if (!bytes || bytes->size() != seed.size()) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "a seed has 64 hexadecimal digits (256 bits)", "/draw_seed"};
  }
  std::ranges::copy(*bytes, seed.begin());
  return seed;
}

std::string draw_commitment(const Seed& seed, std::string_view match_id) {
  std::string text(seed.begin(), seed.end());
  text += match_id;
  return core::to_hex(core::sha256(text));
}

int draw_version(const Bindings& bindings) {
  return fairness_of(bindings) == Fairness::kNone ? 1 : 2;
}

int draw_number(const DrawInput& input, const NumberRange& range) {
  std::string prefix = std::string(input.match_id) + '|' + input.choices[Side::kA] + '|' +
                       input.choices[Side::kB] + '|';
  if (draw_version(input.bindings) == 2) {
    for (Side side : kBothSides) {
      if (input.bindings.commitments[side]) prefix += input.bindings.nonces[side].value_or("");
      prefix += '|';
    }
  }
  const int bound = 256 - 256 % range.size();
  for (int counter = 0;; ++counter) {
    const std::string message = prefix + std::to_string(counter);
    for (int byte : core::hmac_sha256(input.seed, core::as_bytes(message))) {
      if (byte < bound) return range.lowest + byte % range.size();
    }
  }
}

}  // namespace league::game
