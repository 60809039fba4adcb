#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace league::tools::auditor {

/// Whether the agent that wrote the record sent the message.
[[nodiscard]] bool is_out(const nlohmann::json& record);
/// Whether the sender that a message names is the agent whose credential was checked, if the record
/// says who that is.
[[nodiscard]] bool is_own_word(const nlohmann::json& record, const nlohmann::json& message);
/// The match that a message names; otherwise `noted`, the match of its record.
[[nodiscard]] std::string match_in(const std::string& noted, const nlohmann::json& message);
/// The type that a message names; otherwise the type that its record names.
[[nodiscard]] std::string type_in(const nlohmann::json& record, const nlohmann::json& message);

}  // namespace league::tools::auditor
