#pragma once

#include <nlohmann/json_fwd.hpp>
#include <regex>
#include <string>
#include <unordered_map>

namespace valijson {
class Subschema;
}

namespace league::schema {

/// Compiled patterns, keyed by their text.
using PatternCache = std::unordered_map<std::string, std::regex>;

/// Whether `document` follows `schema`; the same result as valijson's, but without error texts.
/// `patterns` is filled without a lock: one thread at a time.
[[nodiscard]] bool accepts(const valijson::Subschema& schema, const nlohmann::json& document,
                           PatternCache& patterns);

}  // namespace league::schema
