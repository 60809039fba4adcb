#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::tools {

/// The arguments of a tool as a person types them: one JSON object, or words `key=value`, whose
/// values are parsed as JSON if possible (`4`, `true`, `[1,2]`) and are text otherwise. Fails with
/// kMalformedMessage and a text that names the word.
[[nodiscard]] core::Result<nlohmann::json> parse_tool_arguments(
    const std::vector<std::string>& words);

/// Adds an agent's `auth_token`, and `sender` unless it is given, to a tool's arguments. `text`:
/// the content of a file, either JSON that contains an object with `auth_token` and the agent's
/// `player_id`, `referee_id` or `id`, as bots store it, or only the token. Fails with
/// kMalformedMessage.
[[nodiscard]] core::Result<void> add_identity(nlohmann::json& arguments, const std::string& text);

/// A tool's result for people: texts unchanged, other content only named, structured content if
/// there is no text. Control characters except line ends are replaced.
[[nodiscard]] std::string readable_result(const nlohmann::json& result);

}  // namespace league::tools
