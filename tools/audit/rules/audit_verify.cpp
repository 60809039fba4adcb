#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/rpc/json_text.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/audit_verify.h"
#include "tools/audit/rules/bundle.h"
#include "tools/audit/rules/leagues.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
namespace {

namespace fs = std::filesystem;
using audit::log::LogFault;

/// A line that `league audit bundle` has masked is no longer what its agent wrote, and its agent is
/// not to blame.
void gather_chain(const fs::path& directory, const ExcludedLogs& excluded,
                  const std::vector<LogFault>& faults, VerifyReport& report) {
  for (LogFault fault : faults) {
    const std::string file = fs::path(fault.file).lexically_relative(directory).string();
    if (fault.rule != "chain.hash" || !excluded.has_line(file, fault.line)) {
      report.faults.push_back(std::move(fault));
      continue;
    }
    fault.rule = "line.masked";
    fault.text =
        "a secret in this line was masked when the bundle was packed, so its hash cannot be "
        "checked and it proves nothing. Ask the operator of the league for the line, or for a "
        "bundle made "
        "after the league's end";
    report.missing.push_back(std::move(fault));
  }
}

void gather(const fs::path& directory, const ExcludedLogs& excluded,
            const std::vector<CheckedLog>& logs, VerifyReport& report) {
  for (const CheckedLog& log : logs) {
    report.records += log.chain.records;
    gather_chain(directory, excluded, log.chain.faults, report);
    std::ranges::copy(log.contents.faults, std::back_inserter(report.faults));
    std::string where = log.chain.last_file + ":" + std::to_string(log.chain.last_line);
    if (log.chain.unsealed > 0) {
      report.notes.push_back(where +
                             ": unsealed lines at the end: " + std::to_string(log.chain.unsealed));
    }
    if (log.chain.torn) report.notes.push_back(where + ": the last line is torn");
  }
}

/// The names of the agents whose log is missing although its seal exists: `P03`, or `league` for
/// the manager.
std::set<std::string> only_sealed(const std::vector<audit::log::LogSegments>& logs) {
  std::set<std::string> names;
  for (const auto& log : logs) {
    std::string name = log.path.filename().string();
    if (log.files.empty())
      names.insert(name.substr(0, name.size() - audit::log::kLogEnding.size()));
  }
  return names;
}

/// The faults of this directory among all of the report.
void excuse_running(const LeagueGroup& group, std::size_t first, VerifyReport& report) {
  if (!is_running(group.logs)) return;
  const auto begin = report.faults.begin() + static_cast<std::ptrdiff_t>(first);
  std::vector<LogFault> own(std::make_move_iterator(begin),
                            std::make_move_iterator(report.faults.end()));
  report.faults.erase(begin, report.faults.end());
  excuse_running_copy(own, report.missing);
  std::ranges::move(own, std::back_inserter(report.faults));
}

void check_all(const fs::path& directory, std::vector<CheckedLog>& checked,
               const std::set<std::string>& seals, const ExcludedLogs& excluded,
               std::size_t first_fault, VerifyReport& report) {
  Findings findings;
  auto groups = group_by_league(checked);
  for (LeagueGroup& group : groups) {
    check_league(group, group.is_current ? directory / "data" : fs::path(), findings);
    if (!group.is_current)
      findings.notes.push_back(directory.string() + ": its logs also hold an earlier league " +
                               group.league.id);
  }
  check_completeness(directory, groups.back().logs, seals, excluded, findings);
  std::ranges::move(findings.faults, std::back_inserter(report.faults));
  std::ranges::move(findings.missing, std::back_inserter(report.missing));
  std::ranges::move(findings.incidents, std::back_inserter(report.incidents));
  std::ranges::move(findings.notes, std::back_inserter(report.notes));
  report.directories.back().leagues = groups.size();
  excuse_running(groups.back(), first_fault, report);
}

void check_bundle(const fs::path& directory, const VerifyOptions& options, VerifyReport& report) {
  Findings findings;
  for (std::string& one : check_manifest(directory, options.without, findings))
    report.left_out.push_back(std::move(one));
  std::ranges::move(findings.faults, std::back_inserter(report.faults));
  std::ranges::move(findings.missing, std::back_inserter(report.missing));
}

bool has_league_data(const fs::path& directory) {
  std::error_code error;
  return fs::exists(directory / "data" / "journal" / "journal.sqlite", error) ||
         fs::exists(directory / "data" / "results.json", error);
}

void verify_one(const fs::path& directory, const envelope::MessageSchemas* schemas,
                const VerifyOptions& options, VerifyReport& report) {
  auto logs = audit::log::find_log_segments(logs_of(directory));
  auto seals = only_sealed(logs);
  auto checked = read_logs(logs, schemas, options.threads);
  report.directories.push_back({directory, logs.size(), 1, true});
  report.logs += logs.size();
  const std::size_t first_fault = report.faults.size();
  std::size_t problems = report.faults.size() + report.missing.size();
  const ExcludedLogs excluded(directory, options.without);
  gather(directory, excluded, checked, report);
  if (schemas != nullptr) check_all(directory, checked, seals, excluded, first_fault, report);
  check_bundle(directory, options, report);
  report.directories.back().ok = problems == report.faults.size() + report.missing.size();
}

/// The directories of single leagues: `directory` itself, or those in it that hold logs/ or data/.
std::vector<fs::path> league_directories(const fs::path& directory) {
  std::error_code error;
  if (fs::is_directory(directory / "logs", error) || has_league_data(directory)) return {directory};
  std::vector<fs::path> found;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_directory(error) &&
        (fs::is_directory(it->path() / "logs", error) || has_league_data(it->path()))) {
      found.push_back(it->path());
      it.disable_recursion_pending();
    }
  }
  std::ranges::sort(found);
  if (found.empty() && !audit::log::find_log_segments(directory).empty())
    found.push_back(directory);
  return found;
}

}  // namespace

core::Result<VerifyReport> verify_directory(const fs::path& directory,
                                            const VerifyOptions& options) {
  auto begin = std::chrono::steady_clock::now();
  auto directories = league_directories(directory);
  std::erase_if(directories, [](const fs::path& one) {
    return audit::log::find_log_segments(logs_of(one)).empty() && !has_league_data(one);
  });
  if (directories.empty()) {
    return core::Error{
        core::ErrorCode::kInternalError, directory.string() + " contains no conversation logs", {}};
  }
  std::optional<envelope::MessageSchemas> schemas;
  if (!options.chain_only) {
    auto loaded = envelope::MessageSchemas::load();
    if (!loaded) return loaded.error();
    schemas = std::move(*loaded);
  }
  VerifyReport report;
  for (const fs::path& one : directories)
    verify_one(one, schemas ? &*schemas : nullptr, options, report);
  auto by_place = [](const auto& a, const auto& b) {
    return std::tie(a.file, a.line) < std::tie(b.file, b.line);
  };
  for (auto* list : {&report.faults, &report.missing, &report.incidents})
    std::stable_sort(list->begin(), list->end(), by_place);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

int audit_verify(const fs::path& directory, const VerifyOptions& options, std::ostream& out,
                 std::ostream& err) {
  auto report = verify_directory(directory, options);
  if (!report) {
    err << report.error().message << '\n';
    return 2;
  }
  options.json ? print_verification_json(*report, out) : print_verification(*report, out);
  return report->is_ok() ? 0 : 1;
}

namespace {

using audit::log::LogFault;
using nlohmann::json;

constexpr std::size_t kMostShown = 100;

json json_of(const LogFault& one) {
  return {{"file", one.file},
          {"line", one.line},
          {"rule", one.rule},
          {"class", class_of_rule(one.rule)},
          {"text", one.text}};
}

json json_of(const std::vector<LogFault>& all) {
  json list = json::array();
  for (const LogFault& one : all) list.push_back(json_of(one));
  return list;
}

/// The maximum number shown of each kind; each says how many there are.
json json_of_incidents(const std::vector<LogFault>& incidents) {
  std::map<std::string, std::size_t> counts, shown;
  for (const LogFault& one : incidents) ++counts[one.rule];
  json list = json::array();
  for (const LogFault& one : incidents) {
    if (shown[one.rule]++ >= kMostShown) continue;
    json row = json_of(one);
    row["count"] = counts[one.rule];
    list.push_back(std::move(row));
  }
  return list;
}

void print_each(const std::vector<LogFault>& all, std::string_view what, std::ostream& out) {
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    const LogFault& one = all[i];
    out << printable(one.file, 1000) << ':' << one.line << ": " << what << class_of_rule(one.rule)
        << ", " << one.rule << ": " << printable(one.text, 600) << '\n';
  }
  if (all.size() > kMostShown) out << "... and " << all.size() - kMostShown << " more\n";
}

void print_incidents(const std::vector<LogFault>& incidents, std::ostream& out) {
  std::map<std::string, std::vector<const LogFault*>> kinds;
  for (const LogFault& one : incidents) kinds[one.rule].push_back(&one);
  for (const auto& [rule, all] : kinds) {
    const LogFault& first = *all.front();
    out << printable(first.file, 1000) << ':' << first.line << ": incident, " << class_of_rule(rule)
        << ", " << rule;
    if (all.size() > 1) out << ", " << all.size() << " times, the first";
    out << ": " << printable(first.text, 600) << '\n';
  }
}

}  // namespace

void print_verification(const VerifyReport& report, std::ostream& out) {
  for (const std::string& one : report.left_out)
    out << "left out of the bundle: " << printable(one, 600) << '\n';
  print_each(report.faults, "", out);
  print_each(report.missing, "", out);
  print_incidents(report.incidents, out);
  for (const auto& note : report.notes) out << printable(note, 1000) << " (no fault)\n";
  out << report.records << " records in " << report.logs << " logs";
  if (report.directories.size() > 1) out << " of " << report.directories.size() << " directories";
  out << ": ";
  if (report.is_ok()) {
    out << "nothing is wrong";
  } else {
    out << report.faults.size() << (report.faults.size() == 1 ? " fault, " : " faults, ")
        << report.missing.size() << (report.missing.size() == 1 ? " piece" : " pieces")
        << " of evidence missing";
  }
  if (!report.incidents.empty())
    out << "; " << report.incidents.size()
        << (report.incidents.size() == 1 ? " incident" : " incidents")
        << " that you should know about";
  out << '\n';
}

void print_verification_json(const VerifyReport& report, std::ostream& out) {
  json leagues = json::array();
  for (const VerifiedDirectory& one : report.directories) {
    leagues.push_back({{"directory", one.path.string()},
                       {"logs", one.logs},
                       {"leagues", one.leagues},
                       {"ok", one.ok}});
  }
  json all = {{"ok", report.is_ok()},
              {"records", report.records},
              {"records_per_second",
               report.seconds > 0 ? static_cast<double>(report.records) / report.seconds : 0.0},
              {"logs", report.logs},
              {"faults", json_of(report.faults)},
              {"missing", json_of(report.missing)},
              {"incidents", json_of_incidents(report.incidents)},
              {"notes", report.notes},
              {"left_out", report.left_out},
              {"leagues", std::move(leagues)}};
  out << rpc::to_json_text(all) << '\n';
}

}  // namespace league::tools::auditor
