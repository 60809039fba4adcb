#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/inspect/audit_show.h"

namespace league::tools::auditor {

struct DiffOptions {
  std::string match = {};  ///< only its records; empty: all
  AuditOutput output = {};
};

/// `league audit diff LOGA LOGB`. Two files of one agent are compared as copies: the first line
/// that differs, records that only one has, and records with different bodies. Files of two agents
/// are compared as the two sides of their conversations: messages between them that only one has,
/// and messages that arrived differently from how they were sent (by `raw_sha256`, the bytes on the
/// wire). Returns 0 if they agree, 1 if they differ, 2 if one is not a conversation log.
int audit_diff(const std::filesystem::path& first, const std::filesystem::path& second,
               const DiffOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
