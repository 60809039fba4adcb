#include "tools/audit/verify/verify_league.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace league::tools::auditor {
namespace {

using audit::log::LogFault;

LogFault finding(const LogPosition& place, const char* rule, std::string text) {
  return {place.file != nullptr ? *place.file : std::string(), place.line, rule, std::move(text)};
}

void check_received_heads(const LeagueLog& log, const std::vector<const LeagueLog*>& managers,
                          Findings& findings) {
  if (managers.empty()) return;
  for (const auto& witness : log.facts.received_heads) {
    bool is_known = std::ranges::any_of(managers, [&](const LeagueLog* manager) {
      return manager->log->chain.contains(witness.head);
    });
    if (is_known) continue;
    findings.fault(witness.place, "witness.head",
                   "the manager said that its log had a line " + witness.head.hash.substr(0, 16) +
                       "... after record " + std::to_string(witness.head.seq) +
                       "; it has none: the manager's log was cut off or rewritten");
  }
}

void check_keys(const std::vector<LeagueLog>& logs, Findings& findings) {
  std::map<std::string, std::set<std::string>> registered;
  for (const LeagueLog& log : logs) {
    for (const Registration& one : log.facts.registrations)
      registered[one.agent].insert(one.log_key);
  }
  for (const LeagueLog& log : logs) {
    const audit::log::VerifiedChain& chain = log.log->chain;
    auto known = registered.find(chain.agent);
    // The seals of an agent that registered no key prove nothing, and nothing is expected of them.
    if (known == registered.end() || known->second == std::set<std::string>{""}) continue;
    // The keys are those of the whole log, so some may belong to other leagues in it.
    bool has_others = log.log->contents.leagues.size() > 1;
    for (const std::string& key : chain.public_keys) {
      if (known->second.contains(key) || has_others) continue;
      findings.faults.push_back({chain.last_file, 1, "key.unregistered",
                                 chain.agent + " seals with a key that it has not registered"});
    }
  }
}

}  // namespace

void Findings::fault(const LogPosition& place, const char* rule, std::string text) {
  faults.push_back(finding(place, rule, std::move(text)));
}

void Findings::miss(const LogPosition& place, const char* rule, std::string text) {
  missing.push_back(finding(place, rule, std::move(text)));
}

void Findings::incident(const LogPosition& place, const char* rule, std::string text) {
  incidents.push_back(finding(place, rule, std::move(text)));
}

void check_logs_against_each_other(const std::vector<LeagueLog>& logs, const JournalLeague* kept,
                                   Findings& findings) {
  std::vector<const LeagueLog*> managers;
  for (const LeagueLog& log : logs) {
    if (log.names.contains("league_manager")) managers.push_back(&log);
  }
  for (const LeagueLog& log : logs) {
    for (const auto& [sender, place] : log.facts.senders) {
      if (log.names.contains(sender)) continue;
      findings.fault(place, "authority.sender",
                     log.log->chain.agent + " sent a message in the name of " + sender);
    }
    check_received_heads(log, managers, findings);
  }
  check_transfers(logs, kept, findings);
  check_copies(logs, findings);
  check_strays(logs, findings);
  check_keys(logs, findings);
}

}  // namespace league::tools::auditor
