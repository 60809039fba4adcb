#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/inspect/audit_show.h"

namespace league::tools::auditor {

/// The records to find; an empty member matches everything.
struct FindQuery {
  std::string player = {};  ///< or referee: `P01`, `REF01`, on either side
  std::string type = {};  ///< `CHOOSE_PARITY_CALL`
  std::string error = {};  ///< `E004`; `any`: everything that was refused or failed
  std::string match = {};  ///< `R1M1`
  std::string since =
      {};  ///< timestamps as the log has them, or their beginnings: `2025-01-15T10:30`
  std::string until = {};
};

/// `league audit find`: one line per record that matches, in the order of time. Returns 0, 1 if
/// there is none, 2 if a time has another format or DIR contains no logs.
int audit_find(const std::filesystem::path& directory, const FindQuery& query, AuditOutput options,
               std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
