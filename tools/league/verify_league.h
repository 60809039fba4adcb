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

/// What was found. An incident breaks no rule, but somebody should know of it.
struct Findings {
  std::vector<audit::LogFault> faults;
  std::vector<audit::LogFault> incidents;
};

/// The order of messages in each match, as its referee recorded it: protocol §6. Returns the
/// attempts in which both players had chosen.
std::vector<DecidedAttempt> check_talks(const std::vector<CheckedLog>& logs,
                                        std::vector<audit::LogFault>& faults);

/// Commitments, drawn numbers, winners, one result per match, and the final table, from the reports
/// that the manager accepted; then the same against the journal in `data`, if there is one.
/// Protocol §7.
void check_results(const std::vector<CheckedLog>& logs, const std::filesystem::path& data,
                   const std::vector<DecidedAttempt>& decided, Findings& findings);

}  // namespace league::tools
