#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "common/audit/log/conversation.h"
#include "common/rpc/dialect_search.h"
#include "common/rpc/json_text.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

bool names(const std::string& agent, const std::string& id) {
  return agent == id || agent.ends_with(":" + id);
}

bool matches(const audit::log::LogEntry& entry, const FindQuery& query) {
  std::string time = entry.time.to_log();
  return (query.player.empty() || names(entry.agent, query.player) ||
          names(entry.peer, query.player) || names(entry.said_by, query.player)) &&
         (query.type.empty() || entry.message_type == query.type) &&
         (query.match.empty() || entry.match_id == query.match) &&
         (query.error.empty() ||
          (!rpc::is_search_for_dialect(entry.fault) &&  // nobody's fault
           (query.error == "any" ? !entry.verdict.empty() : entry.verdict == query.error))) &&
         (query.since.empty() || time >= query.since) &&
         (query.until.empty() || time.compare(0, query.until.size(), query.until) <= 0);
}

nlohmann::ordered_json json_of(const audit::log::LogEntry& entry) {
  return {{"file", entry.file},
          {"line", entry.line},
          {"time", entry.time.to_log()},
          {"from", entry.from()},
          {"to", entry.to()},
          {"kind", entry.kind},
          {"message_type", entry.message_type},
          {"conversation_id", entry.conversation_id},
          {"match_id", entry.match_id},
          {"said_by", entry.said_by},
          {"verdict", entry.verdict},
          {"fault", entry.fault},
          {"raw", entry.raw}};
}

void print(const audit::log::LogEntry& entry, bool is_hearsay, const Paint& paint,
           std::ostream& out) {
  out << time_of_day(entry.time) << "  " << printable(entry.from(), 40)
      << (is_hearsay && !entry.outbound ? " (not proven)" : "") << " -> "
      << printable(entry.to(), 40) << "  "
      << printable(entry.message_type.empty() ? entry.kind : entry.message_type, 40) << "  "
      << summarise(entry);
  if (!entry.verdict.empty() && !rpc::is_search_for_dialect(entry.fault))
    out << "  " << paint.red(entry.verdict + " " + printable(entry.fault, 200));
  out << paint.dim("  " + entry.file + ":" + std::to_string(entry.line)) << '\n';
}

/// Whether `text` is the beginning of a time in the format of the logs, as times are compared as
/// texts.
bool is_beginning_of_time(const std::string& text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000000Z";
  if (text.size() > kForm.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : text[i] != kForm[i]) return false;
  }
  return true;
}

}  // namespace

int audit_find(const std::filesystem::path& directory, const FindQuery& query, AuditOutput options,
               std::ostream& out, std::ostream& err) {
  for (const std::string& time : {query.since, query.until}) {
    if (is_beginning_of_time(time)) continue;
    err << "time " << printable(time, 40)
        << " is not the beginning of a time such as 2025-01-15T10:30:00.000000Z\n";
    return 2;
  }
  HearsayFilter filter;
  std::set<std::pair<std::string, std::size_t>> hearsay;  // by file and line
  std::uint64_t left_out = 0;
  auto search = audit::log::search_logs(logs_of(directory), [&](const audit::log::LogEntry& entry) {
    const bool is_hearsay = filter.is_hearsay(entry);
    if (!matches(entry, query)) return false;
    // Whoever asks about an agent gets what it said, not what others said in its name.
    const bool is_shown =
        !is_hearsay || query.hearsay || query.player.empty() || names(entry.agent, query.player);
    if (is_hearsay && is_shown) hearsay.emplace(entry.file, entry.line);
    left_out += is_shown ? 0 : 1;
    return is_shown;
  });
  for (const auto& problem : search.problems) err << problem << '\n';
  if (search.files == 0) {
    err << directory.string() << " contains no conversation logs\n";
    return 2;
  }
  std::stable_sort(search.entries.begin(), search.entries.end(),
                   [](const auto& a, const auto& b) { return a.time < b.time; });
  auto found = nlohmann::ordered_json::array();
  for (const auto& entry : search.entries) {
    if (options.json) {
      found.push_back(json_of(entry));
    } else {
      print(entry, hearsay.contains({entry.file, entry.line}), Paint(options.colour), out);
    }
  }
  if (options.json) {
    out << rpc::ordered_json_text(nlohmann::ordered_json{{"records", std::move(found)}}) << '\n';
  }
  if (left_out > 0) {
    err << left_out << " records only claim to be from or to " << printable(query.player, 40)
        << ", because the sender showed no valid token: --hearsay shows them\n";
  }
  if (!search.entries.empty()) return 0;
  err << "none of the " << search.records << " records in " << search.files << " logs matches\n";
  return 1;
}

}  // namespace league::tools::auditor
