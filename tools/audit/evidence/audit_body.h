#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/audit/log/log_reader.h"

namespace league::tools::auditor {

/// The league message inside the body of a record, wherever it is (protocol §9). If a JSON-RPC
/// error contains no message, its `data` with `error_name` and `reason`; null if there is nothing
/// of the kind.
[[nodiscard]] nlohmann::json message_of(const audit::log::LogEntry& entry);

/// How the message was transported, in terms for its author: `choose_parity`, `handle_message,
/// params.message`, `tools/call choose_parity, params.arguments` of a request; `result`,
/// `result.content[0].text`, `bare body, HTTP 422`, `error -32601` of an answer. Empty if there is
/// no body.
[[nodiscard]] std::string way_of(const audit::log::LogEntry& entry);

}  // namespace league::tools::auditor
