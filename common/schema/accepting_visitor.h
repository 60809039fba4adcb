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

/// What happens to members that an object's schema does not name, although it names others.
enum class UnnamedMembers { kIgnored, kRefused };

/// Whether `document` follows `schema`; the same result as valijson's, but without error texts, and
/// a string of more than kMaxPatternLength bytes matches no pattern. With kIgnored, no string that
/// a pattern inside `anyOf` and its like could see may be longer. `patterns` is filled without a
/// lock: one thread at a time.
[[nodiscard]] bool accepts(const valijson::Subschema& schema, JsonNode document,
                           UnnamedMembers unnamed, PatternCache& patterns);

}  // namespace league::schema
