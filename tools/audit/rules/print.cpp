#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/rpc/json_text.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/audit_verify.h"
#include "tools/audit/rules/rules.h"

namespace league::tools::auditor {
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
