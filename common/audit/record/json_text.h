#pragma once

#include <string>
#include <string_view>

namespace league::audit::record {

/// Appends `text` as a JSON string with its quotes. Escapes control characters and copies
/// everything else, so the bytes must be UTF-8.
void append_json_string(std::string_view text, std::string& out);

/// The longest part of at most `limit` bytes from the start that does not cut a UTF-8 character in
/// two.
[[nodiscard]] std::string_view utf8_prefix(std::string_view text, std::size_t limit);

}  // namespace league::audit::record
