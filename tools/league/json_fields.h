#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/audit/log_reader.h"

namespace league::tools {

/// The text at `key` of `value`; empty if there is none or it is no text, or `value` is no object.
[[nodiscard]] const std::string& text_at(const nlohmann::json& value, const char* key);

/// Where a record stands, when it was written, who said what kind of message to whom, in which
/// conversation: how every command names a record to a machine.
[[nodiscard]] nlohmann::ordered_json json_of_record(const audit::LogEntry& entry);

}  // namespace league::tools
