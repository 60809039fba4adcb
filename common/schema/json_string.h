#pragma once

#include <string>
#include <string_view>

namespace league::schema {

/// Appends `text` as a JSON string; bytes that are no UTF-8 become U+FFFD, so this never throws.
/// Thread-safe.
void append_json_string(std::string& out, std::string_view text);

/// The same for a text that is valid UTF-8 (is_utf8); what it writes for another is no JSON.
void append_utf8_json_string(std::string& out, std::string_view text);

}  // namespace league::schema
