#pragma once

#include <cstddef>
#include <regex>
#include <string>
#include <unordered_map>

#include "common/schema/json_tree.h"

namespace valijson {
class Subschema;
}

namespace league::schema {

/// The maximum length of a string that is matched against a pattern: std::regex recurses once per
/// character and overflows the stack on long strings (30,000 characters crash the process).
inline constexpr std::size_t kMaxPatternLength = 256;

/// Compiled patterns, keyed by their text.
using PatternCache = std::unordered_map<std::string, std::regex>;

/// Whether `document` follows `schema`; the same result as valijson's, but without error texts, and
/// a string of more than kMaxPatternLength bytes matches no pattern. No string that a
/// pattern inside `anyOf` and its like could see may be longer. `patterns` is filled without a
/// lock: one thread at a time.
[[nodiscard]] bool accepts(const valijson::Subschema& schema, JsonNode document,
                           PatternCache& patterns);

}  // namespace league::schema
