#pragma once

#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"

namespace league::transport::link {

inline constexpr std::string_view kEventStreamType = "text/event-stream";
inline constexpr std::string_view kJsonType = "application/json";

/// Without spaces and tabs at both ends.
[[nodiscard]] std::string_view trim_blanks(std::string_view text);
/// The only value of a field, trimmed; empty if the field is missing or occurs more than once.
[[nodiscard]] std::string_view only_value(const rpc::HeaderMap& headers, std::string_view name);
/// The content type in lower case and without parameters; empty where there is none.
[[nodiscard]] std::string media_type_of(const rpc::HeaderMap& headers);

/// `application/json` and the like (`…+json`).
[[nodiscard]] bool is_json_type(std::string_view media_type);

/// Whether the text begins like a JSON object or array.
[[nodiscard]] bool looks_like_json(std::string_view text);

/// The beginning of a foreign text on one line of printable ASCII, for texts of errors.
[[nodiscard]] std::string excerpt_of(std::string_view text);

}  // namespace league::transport::link
