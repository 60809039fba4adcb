#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace league::rpc {

/// Appends `text` as a JSON string; bytes that are no UTF-8 become U+FFFD, so this never throws.
void append_json_string(std::string& out, std::string_view text);

/// Appends the compact text of `value`; bytes that are no UTF-8 become U+FFFD, so this never
/// throws.
void append_json(std::string& out, const nlohmann::json& value);

/// What `append_json` appends.
std::string to_json_text(const nlohmann::json& value);

}  // namespace league::rpc
