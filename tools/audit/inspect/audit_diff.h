#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>

#include "tools/audit/inspect/audit_show.h"

namespace league::tools {

struct DiffOptions {
  std::string match = {};  ///< only its records; empty: all
  AuditOutput output = {};
};

/// `league audit diff LOGA LOGB`. Two files of one agent are compared as copies: where they part
/// first, which records only one has, which have other bodies. Files of two agents are compared as
/// the two sides of their conversations: which messages between them only one has, which arrived
/// otherwise than they were sent (by `raw_sha256`, the bytes of the wire). Returns 0 if they agree,
/// 1 if they differ, 2 if one is no conversation log.
int audit_diff(const std::filesystem::path& first, const std::filesystem::path& second,
               const DiffOptions& options, std::ostream& out, std::ostream& err);

}  // namespace league::tools
