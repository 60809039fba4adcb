#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>
#include <utility>

#include "common/core/timestamp.h"
#include "tools/audit/facts/facts.h"
#include "tools/audit/rules/accepted_losses.h"
#include "tools/audit/rules/leagues.h"
#include "tools/audit/rules/records.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;

/// Calls `work(i)` for each i below `count`, on several threads.
template <typename Work>
void in_parallel(std::size_t count, std::size_t threads, Work work) {
  std::atomic<std::size_t> next{0};
  auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(run);
  run();
  for (auto& thread : others) thread.join();
}

/// Indexes of the logs, the largest first, so that no large one is left for the end.
std::vector<std::size_t> by_size(const std::vector<audit::log::LogSegments>& logs) {
  std::vector<std::uintmax_t> sizes(logs.size());
  std::vector<std::size_t> order(logs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = 0; i < logs.size(); ++i) {
    std::error_code error;
    for (const auto& file : logs[i].files) sizes[i] += fs::file_size(file, error);
  }
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return sizes[i]; });
  return order;
}

/// Adds processes that have only a header, because they were killed at once: other logs can contain
/// messages from them.
void add_silent_runs(CheckedLog& log) {
  for (std::size_t i = 0; i < log.chain.processes.size(); ++i) {
    const audit::log::LogProcess& process = log.chain.processes[i];
    auto created = core::UtcTimestamp::parse(process.created);
    if (!created) continue;
    const std::int64_t begin = created->instant().time_since_epoch().count();
    auto [run, is_new] = log.contents.runs.try_emplace(i);
    run->second.begins_us = is_new ? begin : std::min(begin, run->second.begins_us);
    if (!is_new) continue;
    log.contents.files.push_back(process.file);
    run->second.ends_us = begin;
    run->second.end = {&log.contents.files.back(), process.line};
  }
}

void check_one(const audit::log::LogSegments& segments, const envelope::MessageSchemas* schemas,
               KnownBroadcasts& known, CheckedLog& log) {
  if (schemas == nullptr) {
    log.chain = audit::log::verify_chain(segments);
    return;
  }
  RecordChecker checker(*schemas, known, log.contents);
  log.chain = audit::log::verify_chain(segments, [&](const audit::log::RecordLine& line) {
    try {
      checker.take(line);
    } catch (const nlohmann::json::exception&) {
      log.contents.faults.push_back(
          {line.file, line.line, "record.form", "a value has a wrong type"});
    }
  });
  add_silent_runs(log);
}

/// The journal in `data`; nothing if there is none or if it is damaged, which is added as a fault.
std::optional<JournalLeague> kept_in(const fs::path& data, Findings& findings) {
  if (data.empty()) return std::nullopt;
  auto kept = read_kept_league(data);
  if (kept) return std::move(*kept);
  findings.faults.push_back({data.string(), 0, "journal.damaged", kept.error().message});
  return std::nullopt;
}

}  // namespace

std::vector<CheckedLog> read_logs(const std::vector<audit::log::LogSegments>& logs,
                                  const envelope::MessageSchemas* schemas, std::size_t threads) {
  std::vector<CheckedLog> checked(logs.size());
  std::vector<std::size_t> order = by_size(logs);
  KnownBroadcasts known;
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  in_parallel(logs.size(), threads,
              [&](std::size_t i) { check_one(logs[order[i]], schemas, known, checked[order[i]]); });
  return checked;
}

void check_league(LeagueGroup& group, const fs::path& data, Findings& findings) {
  auto kept_league = kept_in(data, findings);
  const JournalLeague* kept = kept_league ? &*kept_league : nullptr;
  AcceptedLosses past(kept);
  past.forget(group.logs, findings);
  const LeagueEvidence evidence(group.logs, kept);
  check_rules({group.logs, group.league, kept, past, evidence, data}, findings);
}

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
