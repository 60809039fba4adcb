#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/audit/log_reader.h"

namespace league::tools {

/// The text at `key` of `value`; empty if there is none or it is no text, or `value` is no object.
[[nodiscard]] const std::string& text_at(const nlohmann::json& value, const char* key);

/// The whole number at `key` of `value`; nothing if there is none, or `value` is no object.
[[nodiscard]] std::optional<std::int64_t> number_at(const nlohmann::json& value, const char* key);
/// The value at `key` of `value`; null if there is none, or `value` is no object.
[[nodiscard]] const nlohmann::json& field_at(const nlohmann::json& value, const char* key);

/// Where a record stands, when it was written, who said what kind of message to whom, in which
/// conversation: how every command names a record to a machine.
[[nodiscard]] nlohmann::ordered_json json_of_record(const audit::LogEntry& entry);

}  // namespace league::tools
