#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace league::mcp::client {

/// The capability that a client announces if it answers forms of a server.
[[nodiscard]] nlohmann::json elicitation_capability();

/// The result of `elicitation/create` (MCP, ElicitResult) for a question with these parameters.
/// `given` is an object with the user's prepared answers, keyed by the form's field names; other
/// fields get their default (SEP-1034) or are left out. Declines if a required field has neither,
/// and declines questions that are not forms. Pure.
[[nodiscard]] nlohmann::json answer_elicitation(const nlohmann::json& params,
                                                const nlohmann::json& given);

/// The answer to a request of any method; nothing if the method is not an elicitation. Pure.
[[nodiscard]] std::optional<nlohmann::json> answer_question(std::string_view method,
                                                            const nlohmann::json& params,
                                                            const nlohmann::json& given);

}  // namespace league::mcp::client
