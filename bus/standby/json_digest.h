#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "common/core/crypto.h"

namespace league::league_manager::stream {

/// A digest in hexadecimal; throws like nlohmann::json for anything else.
[[nodiscard]] inline core::Digest digest_of(const nlohmann::json& hex) {
  const auto bytes = core::from_hex(hex.get<std::string>());
  core::Digest digest{};
  if (!bytes || bytes->size() != digest.size()) throw std::invalid_argument("a digest is damaged");
  std::ranges::copy(*bytes, digest.begin());
  return digest;
}

}  // namespace league::league_manager::stream
