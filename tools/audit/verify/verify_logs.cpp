#include "tools/audit/verify/verify_logs.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>

#include "common/core/timestamp.h"
#include "tools/audit/verify/verify_accepted_losses.h"
#include "tools/audit/verify/verify_records.h"
#include "tools/audit/verify/verify_rules.h"

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

nlohmann::json final_standings_of(const std::vector<LeagueLog>& logs) {
  for (const LeagueLog& log : logs) {
    if (const FinalTable* table = log.facts.final_table()) return table->standings;
  }
  return nullptr;
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
  LeagueEvidence evidence(group.logs, kept);
  check_logs_against_each_other(group.logs, kept, findings);
  auto decided = check_conversations(group.logs, findings.faults);
  check_results(group.logs, evidence, kept, decided, findings);
  check_choices(evidence, findings);
  check_commitments(evidence, findings);
  check_losses(evidence, kept, findings);
  check_receipts(group.logs, evidence, group.league, kept, findings);
  check_hosted(evidence, kept, findings);
  check_endings(group.logs, evidence, findings);
  check_witnesses(group.logs, group.league, kept, findings);
  note_steered(evidence, findings);
  note_disputes(evidence, findings);
  judge_once(group.logs, findings);
  if (data.empty()) return;
  check_projections(data, final_standings_of(group.logs), findings);
  check_match_files(data, evidence, kept, past, group.league, findings);
}

}  // namespace league::tools::auditor
