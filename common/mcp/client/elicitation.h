#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace league::mcp {

/// What a client announces that answers questions of a server's forms.
[[nodiscard]] nlohmann::json elicitation_capability();

/// The result of `elicitation/create` (MCP, ElicitResult) for a question with these parameters.
/// `given` is an object of what the user has said beforehand, by the names of the form's fields; a
/// field that is not in it has its default (SEP-1034), or is left out. Declines where a field that
/// is required has neither, and questions that are no form. Pure.
[[nodiscard]] nlohmann::json answer_elicitation(const nlohmann::json& params,
                                                const nlohmann::json& given);

/// The answer to a question of any method; nothing for those that are no elicitation. Pure.
[[nodiscard]] std::optional<nlohmann::json> answer_question(std::string_view method,
                                                            const nlohmann::json& params,
                                                            const nlohmann::json& given);

}  // namespace league::mcp
