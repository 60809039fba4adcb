#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace league::tools {

/// The text at `key` of `value`; empty if there is none or it is no text, or `value` is no object.
[[nodiscard]] const std::string& text_at(const nlohmann::json& value, const char* key);

}  // namespace league::tools
