#include "tools/audit/verify/verify_leagues.h"

#include <algorithm>
#include <utility>

#include "tools/audit/evidence/verify_merge.h"

namespace league::tools::auditor {
namespace {

bool is_named(const audit::log::LeagueIdentity& league) {
  return !league.id.empty() || !league.key.empty();
}

bool is_empty(const LogFacts& facts) { return facts.begins_us == 0; }

/// The group of a league by its key, or, without one, by its id; facts without either go to any
/// existing group.
LeagueGroup* find_group(std::vector<LeagueGroup>& groups,
                        const audit::log::LeagueIdentity& league) {
  for (LeagueGroup& group : groups) {
    if (is_same_league(group.league, league)) return &group;
  }
  return nullptr;
}

/// The last league to whose logs `log` belongs; null if it names none.
LeagueGroup* last_group_of(std::vector<LeagueGroup>& groups, const CheckedLog& log) {
  const auto found = std::find_if(groups.rbegin(), groups.rend(), [&](const LeagueGroup& group) {
    return std::ranges::find(group.logs, &log, &LeagueLog::log) != group.logs.end();
  });
  return found == groups.rend() ? nullptr : &*found;
}

void add(LeagueGroup& group, const CheckedLog& log, LogFacts&& facts) {
  group.league = merged(group.league, facts.league);
  auto same = std::ranges::find(group.logs, &log, &LeagueLog::log);
  if (same != group.logs.end()) return append_facts(std::move(facts), same->facts);
  group.logs.push_back({&log, log.chain.names, std::move(facts)});
}

/// When the manager last wrote a record of a league; 0 if there is no manager's log.
std::int64_t managed_until(const LeagueGroup& group) {
  std::int64_t until = 0;
  for (const LeagueLog& log : group.logs) {
    if (log.names.contains("league_manager")) until = std::max(until, log.facts.ends_us);
  }
  return until;
}

std::int64_t written_until(const LeagueGroup& group) {
  std::int64_t until = 0;
  for (const LeagueLog& log : group.logs) until = std::max(until, log.facts.ends_us);
  return until;
}

}  // namespace

std::vector<LeagueGroup> group_by_league(std::vector<CheckedLog>& logs) {
  std::vector<LeagueGroup> groups;
  // Facts with a key first, so that those without one can be added to their groups.
  for (bool with_key : {true, false}) {
    for (CheckedLog& log : logs) {
      for (LogFacts& facts : log.contents.leagues) {
        if (is_empty(facts) || !is_named(facts.league) || facts.league.key.empty() == with_key)
          continue;
        LeagueGroup* group = find_group(groups, facts.league);
        if (group == nullptr) group = &groups.emplace_back();
        add(*group, log, std::exchange(facts, LogFacts{}));  // left empty, so that it is skipped
                                                             // below
      }
    }
  }
  // An agent may have been killed after its log had named the league and before it contained a
  // record about that league.
  for (const CheckedLog& log : logs) {
    if (!is_named(log.chain.league)) continue;
    if (LeagueGroup* group = find_group(groups, log.chain.league)) add(*group, log, LogFacts{});
  }
  if (groups.empty()) groups.emplace_back();
  std::ranges::stable_sort(groups, {}, [](const LeagueGroup& group) {
    return std::pair(managed_until(group), written_until(group));
  });
  groups.back().is_current = true;
  // What a log states before it names its league belongs to that league. A log that never names one
  // is that of an agent that was not admitted, or of a standalone player: it states nothing about
  // the last league and is no evidence in it, unless no log names a league.
  for (CheckedLog& log : logs) {
    LeagueGroup* own = last_group_of(groups, log);
    LeagueGroup& group = own == nullptr ? groups.back() : *own;
    if (own == nullptr && is_named(group.league)) continue;
    for (LogFacts& facts : log.contents.leagues) {
      if (!is_empty(facts) && !is_named(facts.league)) add(group, log, std::move(facts));
    }
    if (own == nullptr) add(group, log, LogFacts{});
  }
  return groups;
}

}  // namespace league::tools::auditor
