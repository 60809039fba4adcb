#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/audit/log_reader.h"

namespace league::tools {

/// The league message inside the body of a record, wherever it sits (protocol §9); a JSON-RPC error
/// gives its `data` with `error_name` and `reason` where there is no better; null if there is none
/// to be found.
[[nodiscard]] nlohmann::json message_of(const audit::LogEntry& entry);

}  // namespace league::tools
