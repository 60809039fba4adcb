#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/core/result.h"

namespace league::tools {

/// The arguments of a tool as a person types them: one JSON object, or words `key=value`, whose
/// values are JSON where they are (`4`, `true`, `[1,2]`) and text otherwise. Fails with
/// kMalformedMessage and a text that names the word.
[[nodiscard]] core::Result<nlohmann::json> parse_tool_arguments(
    const std::vector<std::string>& words);

/// Adds `auth_token`, and `sender` where it is not given, of an agent to a tool's arguments. `text`
/// is a file's: JSON that holds an object with `auth_token` and the agent's `player_id`,
/// `referee_id` or `id`, as bots keep it, or the token alone. Fails with kMalformedMessage.
[[nodiscard]] core::Result<void> add_identity(nlohmann::json& arguments, const std::string& text);

/// What a person reads of a tool's result: texts as they are, other content named, structured
/// content where there is no text. Control characters are replaced, but for line ends.
[[nodiscard]] std::string readable_result(const nlohmann::json& result);

}  // namespace league::tools
