#include "tools/league/audit_verify.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>
#include <ostream>
#include <thread>

#include "tools/league/audit_text.h"
#include "tools/league/verify_league.h"
#include "tools/league/verify_projections.h"
#include "tools/league/verify_records.h"

namespace league::tools {
namespace {

constexpr std::size_t kMostFaultsShown = 100;

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

/// The big ones first, so that no thread is left alone with one.
void sort_by_size(std::vector<audit::LogSegments>& logs) {
  auto size = [](const audit::LogSegments& log) {
    std::uintmax_t bytes = 0;
    std::error_code error;
    for (const auto& file : log.files) bytes += std::filesystem::file_size(file, error);
    return bytes;
  };
  std::stable_sort(logs.begin(), logs.end(),
                   [&](const auto& a, const auto& b) { return size(a) > size(b); });
}

void check_one(const audit::LogSegments& segments, const envelope::MessageSchemas* schemas,
               KnownBroadcasts& known, CheckedLog& log) {
  if (schemas == nullptr) {
    log.chain = audit::verify_chain(segments);
    return;
  }
  RecordChecker checker(*schemas, known, log.facts);
  log.chain = audit::verify_chain(segments, [&](const audit::RecordLine& line) {
    try {
      checker.take(line);
    } catch (const nlohmann::json::exception&) {
      log.facts.faults.push_back({line.file, line.line, "record.form", "a value has a wrong type"});
    }
  });
}

nlohmann::json final_standings_of(const std::vector<CheckedLog>& logs) {
  for (const CheckedLog& log : logs) {
    if (log.facts.final_standings.is_array()) return log.facts.final_standings;
  }
  return nullptr;
}

void gather(const std::vector<CheckedLog>& logs, VerifyReport& report) {
  for (const CheckedLog& log : logs) {
    report.records += log.chain.records;
    for (const auto* faults : {&log.chain.faults, &log.facts.faults})
      report.faults.insert(report.faults.end(), faults->begin(), faults->end());
    std::string where = log.chain.last_file + ":" + std::to_string(log.chain.last_line);
    if (log.chain.unsealed > 0) {
      report.notes.push_back(where + ": the last " + std::to_string(log.chain.unsealed) +
                             " lines are unsealed");
    }
    if (log.chain.torn) report.notes.push_back(where + ": the last line is torn");
  }
}

nlohmann::json json_of(const std::vector<audit::LogFault>& faults) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& fault : faults) {
    list.push_back({{"file", fault.file},
                    {"line", fault.line},
                    {"rule", fault.rule},
                    {"class", class_of_rule(fault.rule)},
                    {"text", fault.text}});
  }
  return list;
}

nlohmann::json json_of(const VerifyReport& report) {
  return {{"ok", report.faults.empty()},
          {"records", report.records},
          {"records_per_second",
           report.seconds > 0 ? static_cast<double>(report.records) / report.seconds : 0.0},
          {"logs", report.logs},
          {"faults", json_of(report.faults)},
          {"incidents", json_of(report.incidents)},
          {"notes", report.notes}};
}

void print(const std::vector<audit::LogFault>& faults, std::string_view what, std::ostream& out) {
  for (std::size_t i = 0; i < std::min(faults.size(), kMostFaultsShown); ++i) {
    const auto& fault = faults[i];
    out << fault.file << ':' << fault.line << ": " << what << class_of_rule(fault.rule) << ", "
        << fault.rule << ": " << printable(fault.text, 300) << '\n';
  }
  if (faults.size() > kMostFaultsShown)
    out << "... and " << faults.size() - kMostFaultsShown << " more\n";
}

void print(const VerifyReport& report, std::ostream& out) {
  print(report.faults, "", out);
  print(report.incidents, "incident, ", out);
  for (const auto& note : report.notes) out << note << " (no fault)\n";
  out << report.records << " records in " << report.logs << " logs: "
      << (report.faults.empty() ? "nothing is wrong"
                                : std::to_string(report.faults.size()) + " faults");
  if (!report.incidents.empty())
    out << "; " << report.incidents.size() << " incidents that somebody should know of";
  out << '\n';
}

}  // namespace

std::string_view class_of_rule(std::string_view rule) {
  constexpr std::pair<std::string_view, std::string_view> kClasses[] = {
      {"authority.", "protocol"}, {"schema", "protocol"},    {"order.", "protocol"},
      {"retry.", "protocol"},     {"deadline.", "protocol"}, {"secret.", "secret"},
      {"draw.", "draw"},          {"result.", "result"},     {"table.", "result"},
      {"journal.", "result"},     {"projection.", "result"}};
  for (const auto& [prefix, name] : kClasses) {
    if (rule.starts_with(prefix)) return name;
  }
  return "damage";
}

core::Result<VerifyReport> verify_directory(const std::filesystem::path& directory,
                                            const VerifyOptions& options) {
  auto begin = std::chrono::steady_clock::now();
  auto logs = audit::find_log_segments(logs_of(directory));
  if (logs.empty()) {
    return core::Error{
        core::ErrorCode::kInternalError, directory.string() + " holds no conversation logs", {}};
  }
  std::optional<envelope::MessageSchemas> schemas;
  if (!options.chain_only) {
    auto loaded = envelope::MessageSchemas::load();
    if (!loaded) return loaded.error();
    schemas = std::move(*loaded);
  }
  sort_by_size(logs);
  std::vector<CheckedLog> checked(logs.size());
  KnownBroadcasts known;
  std::size_t threads =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  in_parallel(logs.size(), threads, [&](std::size_t i) {
    check_one(logs[i], schemas ? &*schemas : nullptr, known, checked[i]);
  });
  VerifyReport report{.faults = {}, .incidents = {}, .notes = {}, .logs = logs.size()};
  gather(checked, report);
  if (!options.chain_only) {
    Findings findings;
    check_logs_against_each_other(checked, findings.faults);
    auto decided = check_talks(checked, findings.faults);
    check_results(checked, directory / "data", decided, findings);
    check_projections(directory / "data", final_standings_of(checked), findings.faults);
    std::ranges::move(findings.faults, std::back_inserter(report.faults));
    report.incidents = std::move(findings.incidents);
  }
  std::stable_sort(report.faults.begin(), report.faults.end(), [](const auto& a, const auto& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  });
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

int audit_verify(const std::filesystem::path& directory, const VerifyOptions& options,
                 std::ostream& out, std::ostream& err) {
  auto report = verify_directory(directory, options);
  if (!report) {
    err << report.error().message << '\n';
    return 2;
  }
  if (options.json) {
    out << json_of(*report).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    print(*report, out);
  }
  return report->faults.empty() ? 0 : 1;
}

}  // namespace league::tools
