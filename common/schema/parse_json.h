#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/core/result.h"

namespace league::schema {

/// What a JSON document may not exceed.
struct JsonLimits {
  std::size_t max_depth = 32;  ///< objects and arrays within each other
  std::size_t max_key_length = 256;  ///< bytes
};

/// Parses one JSON document of hostile origin. Refuses syntax errors and bad UTF-8
/// (kMalformedMessage with the byte offset), nesting and keys beyond `limits` (kFieldTooLong) and
/// objects that name a key twice (kDuplicateKey); never recurses, never throws, and its texts quote
/// at most a shortened key. Thread-safe.
[[nodiscard]] core::Result<nlohmann::json> parse_json(std::string_view bytes,
                                                      const JsonLimits& limits = {});

}  // namespace league::schema
