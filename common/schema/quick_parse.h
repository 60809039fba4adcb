#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

#include "common/schema/parse_json.h"

namespace league::schema {

/// Parses a document that follows every rule of parse_json, several times as fast as nlohmann's own
/// reader. Returns nothing for any other document, and for a few valid but rare ones (integers
/// beyond 64 bits); the caller then uses the slow reader. The result equals that of nlohmann's
/// reader. Thread-safe; keeps a buffer per thread.
[[nodiscard]] std::optional<nlohmann::json> quick_parse(std::string_view bytes,
                                                        const JsonLimits& limits);

}  // namespace league::schema
