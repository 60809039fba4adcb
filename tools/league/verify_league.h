#pragma once

#include <filesystem>
#include <vector>

#include "common/audit/chain_verifier.h"
#include "tools/league/verify_facts.h"

namespace league::tools {

/// Both halves of what is known of a log.
struct CheckedLog {
  audit::VerifiedChain chain;
  LogFacts facts;
};

/// Witnesses, keys, names, transfers: what logs say about each other.
void check_logs_against_each_other(const std::vector<CheckedLog>& logs,
                                   std::vector<audit::LogFault>& faults);

/// The order of messages in each match, as its referee recorded it: protocol §6.
void check_talks(const std::vector<CheckedLog>& logs, std::vector<audit::LogFault>& faults);

/// Commitments, drawn numbers, winners, one result per match, and the final table, from the reports
/// that the manager accepted; then the same against the journal in `data`, if there is one.
/// Protocol §7.
void check_results(const std::vector<CheckedLog>& logs, const std::filesystem::path& data,
                   std::vector<audit::LogFault>& faults);

}  // namespace league::tools
