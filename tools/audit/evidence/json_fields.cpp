#include "tools/audit/evidence/json_fields.h"

#include <nlohmann/json.hpp>

namespace league::tools::auditor {

nlohmann::ordered_json json_of_record(const audit::log::LogEntry& entry) {
  return {{"file", entry.file},
          {"line", entry.line},
          {"time", entry.time.to_log()},
          {"from", entry.from()},
          {"to", entry.to()},
          {"kind", entry.kind},
          {"message_type", entry.message_type},
          {"conversation_id", entry.conversation_id}};
}

}  // namespace league::tools::auditor
