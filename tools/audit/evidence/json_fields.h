#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/audit/log/log_reader.h"
#include "common/schema/json_fields.h"

namespace league::tools {

using schema::field_at;
using schema::number_at;
using schema::text_at;

/// Where a record stands, when it was written, who said what kind of message to whom, in which
/// conversation: how every command names a record to a machine.
[[nodiscard]] nlohmann::ordered_json json_of_record(const audit::LogEntry& entry);

}  // namespace league::tools
