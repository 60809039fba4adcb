#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/schema/json_string.h"

namespace league::rpc {

using schema::append_json_string;

/// Appends the compact text of `value`; bytes that are no UTF-8 become U+FFFD, so this never
/// throws.
void append_json(std::string& out, const nlohmann::json& value);

/// What `append_json` appends.
std::string to_json_text(const nlohmann::json& value);
/// The same, with the members in their order.
std::string ordered_json_text(const nlohmann::ordered_json& value);

}  // namespace league::rpc
