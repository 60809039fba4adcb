#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/audit/log/log_reader.h"
#include "common/schema/json_fields.h"

namespace league::tools::auditor {

using schema::field_at;
using schema::number_at;
using schema::text_at;

/// The place, time, sender, recipient, message type and conversation of a record, in the form that
/// all commands use in their JSON output.
[[nodiscard]] nlohmann::ordered_json json_of_record(const audit::log::LogEntry& entry);

}  // namespace league::tools::auditor
