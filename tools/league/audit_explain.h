#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/league/audit_show.h"

namespace league::tools {

/// `league audit explain DIR MATCH|CONVERSATION`: who said what when, then what follows from it:
/// the result and whose fault a technical loss was, calls that were repeated, leniencies, messages
/// that only one side has a record of, and how far the clocks of the machines are apart. A match
/// that was assigned several times has several conversations. Returns 0, 1 if there is no such
/// match or conversation, 2 if DIR holds no logs.
int audit_explain(const std::filesystem::path& directory, const std::string& what,
                  AuditOutput options, std::ostream& out, std::ostream& err);

}  // namespace league::tools
