#include "tools/audit/verify/verify_running.h"

#include <algorithm>
#include <array>

namespace league::tools::auditor {

bool is_running(const std::vector<LeagueLog>& logs) {
  bool has_manager = false;
  for (const LeagueLog& log : logs) {
    if (log.facts.final_table() != nullptr || !log.facts.told_ends.empty()) return false;
    if (!log.names.contains("league_manager")) continue;
    has_manager = true;
    if (log.log->chain.closed) return false;
  }
  return has_manager;
}

void excuse_running_copy(std::vector<audit::log::LogFault>& faults,
                         std::vector<audit::log::LogFault>& missing) {
  constexpr std::array<std::string_view, 8> kAtTheEnd = {
      "log.truncated", "log.short",       "witness.head",    "witness.agent_head",
      "journal.head",  "journal.missing", "journal.damaged", "projection.ahead"};
  auto is_at_the_end = [&](const audit::log::LogFault& fault) {
    return std::ranges::find(kAtTheEnd, fault.rule) != kAtTheEnd.end();
  };
  for (audit::log::LogFault fault : faults) {
    if (!is_at_the_end(fault)) continue;
    fault.text +=
        ". The league was still running, so this may be a copy whose files are of different "
        "moments. Make one with `league backup`, or when the programs have stopped";
    missing.push_back(std::move(fault));
  }
  std::erase_if(faults, is_at_the_end);
}

}  // namespace league::tools::auditor
