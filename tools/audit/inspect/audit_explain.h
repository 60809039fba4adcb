#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/inspect/audit_show.h"

namespace league::tools::auditor {

struct ExplainOptions {
  AuditOutput output = {};
  std::filesystem::path html = {};  ///< a file to write the page to; empty: text on `out`
};

/// `league audit explain DIR MATCH|CONVERSATION`: a sequence diagram of the messages from the logs
/// of all roles, with both clocks, and then conclusions: the result and whose fault a technical
/// loss was, repeated calls, leniencies, messages of which only one side has a record, and the
/// differences between the clocks. A match that was assigned several times has several
/// conversations; one that the manager ended without a referee has none. Returns 0, 1 if there is
/// no such match or conversation, 2 if DIR holds no logs or the file cannot be written.
int audit_explain(const std::filesystem::path& directory, const std::string& what,
                  const ExplainOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
