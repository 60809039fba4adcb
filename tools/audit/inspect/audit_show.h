#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "common/audit/log/conversation.h"

namespace league::tools::auditor {

/// How the audit commands print.
struct AuditOutput {
  bool json = false;  ///< one object for machines instead of the text
  bool colour = false;  ///< only for a terminal
};

/// Prints on `err` what could not be read of the logs in `directory`; false if there are none.
[[nodiscard]] bool has_logs(const audit::LogSearch& search, const std::filesystem::path& directory,
                            std::ostream& err);

/// `league audit show DIR CONVERSATION_ID`: the conversation from the logs of all roles, in order.
/// Returns 0, 1 if there is no such conversation, 2 if DIR holds no logs. The result goes to `out`,
/// everything else to `err`.
int audit_show(const std::filesystem::path& directory, const std::string& conversation_id,
               AuditOutput options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
