#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "tools/audit/facts/facts.h"
#include "tools/audit/facts/journal.h"

namespace league::tools::auditor {

/// One log: its checked chain and its facts.
struct CheckedLog {
  audit::log::VerifiedChain chain;
  LogContents contents;
};

/// The facts of one league in one log.
struct LeagueLog {
  const CheckedLog* log = nullptr;
  std::set<std::string> names;  ///< of the agent that wrote it; also temporary ones
  LogFacts facts;
};

/// The findings. A fault is a contradiction: somebody's record is false or damaged. `missing` lists
/// evidence that should exist but does not. An incident breaks no rule, but the operator should
/// know about it.
struct Findings {
  std::vector<audit::log::LogFault> faults;
  std::vector<audit::log::LogFault> missing;
  std::vector<audit::log::LogFault> incidents;
  std::vector<std::string> notes;
  /// Attempts in which both players had chosen, by the records of the referees or the players; of
  /// the league that is being checked.
  std::vector<DecidedAttempt> decided;

  void fault(const LogPosition& place, const char* rule, std::string text);
  void miss(const LogPosition& place, const char* rule, std::string text);
  void incident(const LogPosition& place, const char* rule, std::string text);
};

/// Whether records of the log's agent from between the two times can be missing because a process
/// was killed.
[[nodiscard]] bool may_be_lost(const CheckedLog& log, std::int64_t first_us, std::int64_t last_us);

/// Whether a seal covers the line.
[[nodiscard]] bool is_sealed(const CheckedLog& log, const LogPosition& place);

/// Whether a process that was killed, or still runs, wrote its last record at most a second after
/// `time_us`. Other programs than ours, and ours before 0.2, may record an answer after the calls
/// that follow from it, so its record can be missing although the log contains those calls.
[[nodiscard]] bool is_at_open_end(const CheckedLog& log, std::int64_t time_us);

}  // namespace league::tools::auditor
