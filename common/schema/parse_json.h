#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string_view>

#include "common/core/result.h"

namespace league::schema {

/// The limits of a JSON document.
struct JsonLimits {
  std::size_t max_depth = 32;  ///< objects and arrays within each other
  std::size_t max_key_length = 256;  ///< bytes
};

/// For messages of MCP, whose schemas of tools nest more than messages of the league.
inline constexpr JsonLimits kMcpLimits{.max_depth = 64, .max_key_length = 1024};

/// Parses one JSON document from an untrusted source. Refuses syntax errors and invalid UTF-8
/// (kMalformedMessage with the byte offset), nesting and keys beyond `limits` (kFieldTooLong) and
/// objects with a duplicate key (kDuplicateKey). Does not recurse and never throws; its error texts
/// quote at most a shortened key. Thread-safe.
[[nodiscard]] core::Result<nlohmann::json> parse_json(std::string_view bytes,
                                                      const JsonLimits& limits = {});

/// Whether the bytes are UTF-8 (no surrogates, no overlong forms). Thread-safe.
[[nodiscard]] bool is_utf8(std::string_view text);

}  // namespace league::schema
