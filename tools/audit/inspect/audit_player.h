#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/inspect/audit_show.h"

namespace league::tools::auditor {

/// `league audit log DIR PLAYER`: the messages to the bot, its answers and what was wrong with
/// them, from the logs of the manager and the referees, since third-party bots keep no conversation
/// log. `player` is an id such as `P01`. Returns 0 if nothing was wrong, 1 if something was or the
/// player appears in no log, 2 if DIR holds no logs.
int audit_log(const std::filesystem::path& directory, const std::string& player,
              AuditOutput options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
