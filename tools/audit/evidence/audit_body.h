#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/audit/log/log_reader.h"

namespace league::tools {

/// The league message inside the body of a record, wherever it sits (protocol §9); a JSON-RPC error
/// gives its `data` with `error_name` and `reason` where there is no better; null if there is none
/// to be found.
[[nodiscard]] nlohmann::json message_of(const audit::LogEntry& entry);

/// How the message was brought, for its author: `choose_parity`, `handle_message, params.message`,
/// `tools/call choose_parity, params.arguments` of a request; `result`, `result.content[0].text`,
/// `bare body, HTTP 422`, `error -32601` of an answer. Empty where there is no body.
[[nodiscard]] std::string way_of(const audit::LogEntry& entry);

}  // namespace league::tools
