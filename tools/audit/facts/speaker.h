#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "common/audit/log/log_reader.h"

/// Who said what stands in a log. A name in a message or a conversation id never makes anybody
/// responsible: only a checked token, credential or signature does. Source: docs/audit.md, "Who
/// said it".
namespace league::tools::auditor {

/// Whether `entry` is a message of `agent`, by what its log has checked; in an own log, everything
/// that was sent. In logs before version 3, which do not say it: whether it names the agent.
[[nodiscard]] bool is_said_by(const audit::log::LogEntry& entry, const std::string& agent);

/// Empty if `entry`, a message from `agent` or a missing answer of it, counts: it is proven, and in
/// the manager's log or the agent's own. Otherwise whose word it is (`REF01`, `league_manager`): it
/// is shown, and nobody is graded by it. Always empty in logs before version 3.
[[nodiscard]] std::string according_to(const audit::log::LogEntry& entry, const std::string& agent);

/// Finds the requests that somebody sent in the name of an agent without proof, and the answers to
/// them. Takes the records of each file in their order.
class HearsayFilter {
 public:
  [[nodiscard]] bool is_hearsay(const audit::log::LogEntry& entry);

 private:
  std::set<std::pair<std::string, std::uint64_t>> calls_;  ///< open ones, by file and number
};

}  // namespace league::tools::auditor
