#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "common/audit/log/conversation.h"
#include "common/rpc/json_text.h"
#include "tools/audit/inspect/audit_text.h"
#include "tools/audit/inspect/explain_truth.h"

namespace league::tools::auditor {
namespace {

using audit::log::LoggedMessage;
using nlohmann::ordered_json;

std::string type_of(const LoggedMessage& exchange) {
  const audit::log::LogEntry& entry = exchange.main();
  if (entry.kind == "failure") return "(no answer)";
  const std::string& type = entry.message_type.empty() && exchange.sent
                                ? exchange.sent->message_type
                                : entry.message_type;
  return printable(type.empty() ? "(" + entry.kind + ")" : type, 40);
}

std::string name_of(const std::string& agent) { return agent.empty() ? "?" : printable(agent, 40); }

/// The fault that was found in a message; if both sides found one, the receiver's.
std::pair<std::string, std::string> fault_of(const LoggedMessage& exchange) {
  for (const auto* side : {&exchange.received, &exchange.sent}) {
    if (*side && !(*side)->verdict.empty()) return {(*side)->verdict, (*side)->fault};
  }
  return {};
}

std::string seen_by(const LoggedMessage& exchange) {
  if (exchange.sent && exchange.received) return "both";
  return exchange.sent ? "sender" : "receiver";
}

std::vector<std::string> leniencies_of(const LoggedMessage& exchange) {
  std::vector<std::string> all;
  for (const auto* side : {&exchange.received, &exchange.sent}) {
    if (!*side) continue;
    for (const auto& name : (*side)->leniencies) {
      if (std::find(all.begin(), all.end(), name) == all.end()) all.push_back(name);
    }
  }
  return all;
}

ordered_json json_of(const LoggedMessage& exchange) {
  const audit::log::LogEntry& entry = exchange.main();
  auto [verdict, fault] = fault_of(exchange);
  ordered_json row = {{"time", exchange.time().to_log()},
                      {"from", entry.from()},
                      {"to", entry.to()},
                      {"kind", entry.kind},
                      {"message_type", entry.message_type},
                      {"seen_by", seen_by(exchange)},
                      {"leniencies", leniencies_of(exchange)}};
  if (entry.http_status != 0) row["http_status"] = entry.http_status;
  if (entry.elapsed_us) row["elapsed_us"] = *entry.elapsed_us;
  if (!verdict.empty()) row["verdict"] = verdict;
  if (!fault.empty()) row["fault"] = fault;
  row["raw"] = entry.raw;
  for (const auto* side : {&exchange.sent, &exchange.received}) {
    if (*side)
      row["records"].push_back(
          {{"file", (*side)->file}, {"line", (*side)->line}, {"seq", (*side)->seq}});
  }
  return row;
}

struct Widths {
  std::size_t from = 4;
  std::size_t to = 2;
  std::size_t type = 4;
};

Widths widths_of(const std::vector<LoggedMessage>& exchanges) {
  Widths widths;
  for (const LoggedMessage& exchange : exchanges) {
    widths.from = std::max(widths.from, name_of(exchange.main().from()).size());
    widths.to = std::max(widths.to, name_of(exchange.main().to()).size());
    widths.type = std::max(widths.type, type_of(exchange).size());
  }
  return widths;
}

void print_row(const LoggedMessage& exchange, const Widths& widths, const Paint& paint,
               std::ostream& out) {
  const audit::log::LogEntry& entry = exchange.main();
  auto [verdict, fault] = fault_of(exchange);
  std::string type = padded(type_of(exchange), widths.type);
  std::string took =
      entry.kind != "request" && entry.elapsed_us ? duration_text(*entry.elapsed_us) : "";
  std::string status = entry.http_status != 0 ? std::to_string(entry.http_status) : "";
  out << paint.dim(time_of_day(exchange.time())) << "  "
      << padded(name_of(entry.from()), widths.from) << " -> "
      << padded(name_of(entry.to()), widths.to) << "  "
      << (verdict.empty() ? paint.bold(type) : paint.red(type)) << "  " << padded(took, 8) << "  "
      << padded(status, 3) << "  " << summarise(entry) << '\n';
  const std::string indent(17, ' ');
  if (!verdict.empty()) out << indent << paint.red(verdict + "  " + printable(fault, 400)) << '\n';
  for (const std::string& name : leniencies_of(exchange)) {
    out << indent << paint.yellow("leniency: " + name) << "  " << explain_leniency(name) << '\n';
  }
}

void print_text(const std::string& id, const std::vector<LoggedMessage>& exchanges,
                const Paint& paint, std::ostream& out) {
  core::UtcTimestamp first = exchanges.front().time();
  core::UtcTimestamp last = exchanges.back().time();
  out << paint.bold("conversation " + printable(id, 100)) << "  " << exchanges.size()
      << " messages  " << first.to_log().substr(0, 10) << " UTC  "
      << duration_text((last.instant() - first.instant()).count()) << "\n\n";
  Widths widths = widths_of(exchanges);
  out << paint.dim(padded("time", 15) + "  " + padded("from", widths.from) + "    " +
                   padded("to", widths.to) + "  " + padded("type", widths.type) + "  " +
                   padded("took", 8) + "  " + "st.  what")
      << '\n';
  for (const LoggedMessage& exchange : exchanges) print_row(exchange, widths, paint, out);
}

}  // namespace

bool has_logs(const audit::log::LogSearch& search, const std::filesystem::path& directory,
              std::ostream& err) {
  for (const std::string& problem : search.problems)
    err << "warning: " << printable(problem, 400) << '\n';
  if (search.files == 0)
    err << "no conversation logs in " << directory.string()
        << "; give the directory that contains data/ and logs/\n";
  return search.files != 0;
}

int audit_show(const std::filesystem::path& directory, const std::string& conversation_id,
               AuditOutput options, std::ostream& out, std::ostream& err) {
  auto wanted = [&](const audit::log::LogEntry& entry) {
    const bool is_passed_on = entry.agent == "league_manager" && entry.via == "seat";
    return !is_passed_on && entry.conversation_id == conversation_id;
  };
  audit::log::LogSearch search = audit::log::search_logs(logs_of(directory), wanted);
  if (!has_logs(search, directory, err)) return 2;
  std::vector<LoggedMessage> exchanges = audit::log::merge_records(std::move(search.entries));
  MatchTruth truth;
  for (const LoggedMessage& exchange : exchanges) {
    if (exchange.main().match_id.empty()) continue;
    truth = truth_of(directory, exchange.main().match_id);
    break;
  }
  if (options.json) {
    ordered_json result = {{"conversation_id", conversation_id},
                           {"messages", ordered_json::array()}};
    for (const LoggedMessage& exchange : exchanges) result["messages"].push_back(json_of(exchange));
    result["fairness"] = truth.fairness;
    result["sealed"] = truth.sentences;
    out << rpc::ordered_json_text(result) << '\n';
  } else if (!exchanges.empty()) {
    print_text(conversation_id, exchanges, Paint(options.colour), out);
    if (!truth.sentences.empty()) out << '\n';
    for (const std::string& sentence : truth.sentences) out << printable(sentence, 600) << '\n';
  }
  if (!exchanges.empty()) return 0;
  err << "no conversation " << printable(conversation_id, 100) << " in the " << search.records
      << " records of " << search.files
      << " logs; ids of match conversations look like convr1m1001\n";
  return 1;
}

}  // namespace league::tools::auditor
