#include "tools/audit/verify/verify_running.h"

#include <algorithm>
#include <array>

namespace league::tools::auditor {

bool is_running(const std::vector<LeagueLog>& logs) {
  return std::ranges::none_of(logs, [](const LeagueLog& log) {
    return log.facts.final_table() != nullptr || !log.facts.told_ends.empty();
  });
}

void excuse_running_copy(const std::vector<LeagueLog>& logs,
                         std::vector<audit::log::LogFault>& faults,
                         std::vector<audit::log::LogFault>& missing) {
  constexpr std::array<std::string_view, 5> kOfManager = {"witness.head", "witness.agent_head",
                                                          "journal.missing", "journal.damaged",
                                                          "projection.ahead"};
  const bool is_manager_open = std::ranges::none_of(logs, [](const LeagueLog& log) {
    return log.names.contains("league_manager") && log.log->chain.closed;
  });
  auto is_open = [&](const std::string& file) {
    return std::ranges::any_of(logs, [&](const LeagueLog& log) {
      return log.log->chain.last_file == file && !log.log->chain.closed;
    });
  };
  auto is_at_the_end = [&](const audit::log::LogFault& fault) {
    if (fault.rule == "log.short") return true;
    if (fault.rule == "log.truncated")  // the seal beside the log is newer than the log
      return is_open(fault.file) && fault.text.starts_with("the log ends here");
    return is_manager_open && std::ranges::find(kOfManager, fault.rule) != kOfManager.end();
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
