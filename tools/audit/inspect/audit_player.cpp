#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "common/audit/log/conversation.h"
#include "common/rpc/json_text.h"
#include "league_manager/files/journal_book.h"
#include "tools/audit/evidence/audit_text.h"
#include "tools/audit/evidence/speaker.h"
#include "tools/audit/inspect/audit_report.h"

namespace league::tools::auditor {
namespace {

/// The conversations in which the player got its id; it still has a temporary name in them. Only of
/// logs before version 3: any bot may use the conversation of another.
std::set<std::string> registrations(const audit::log::LogSearch& search,
                                    const std::string& player) {
  std::set<std::string> ids;
  for (const audit::log::LogEntry& entry : search.entries) {
    if (entry.version < audit::log::kFirstVersionWithSpeakers &&
        entry.message_type == "LEAGUE_REGISTER_RESPONSE" &&
        entry.raw.find("\"player_id\":\"" + player + "\"") != std::string::npos) {
      ids.insert(entry.conversation_id);
    }
  }
  ids.erase("");
  return ids;
}

/// The records about the player in other agents' logs; if there are none, those in its own log.
/// Counts in `hearsay` what somebody sent in its name without proof, which is left out.
std::vector<audit::log::LogEntry> about(audit::log::LogSearch search, const std::string& player,
                                        std::uint64_t& hearsay) {
  std::string sender = "player:" + player;
  std::set<std::string> registered = registrations(search, player);
  HearsayFilter filter;
  std::set<std::pair<std::string, std::uint64_t>> own_calls;  // its registrations, still unnamed
  std::vector<audit::log::LogEntry> theirs;
  std::vector<audit::log::LogEntry> own;
  for (audit::log::LogEntry& entry : search.entries) {
    if (entry.agent == sender) {
      own.push_back(std::move(entry));
    } else if (filter.is_hearsay(entry)) {
      hearsay += entry.peer == sender && entry.kind == "request" ? 1 : 0;
    } else if (entry.said_by == sender && entry.kind == "request") {
      own_calls.emplace(entry.file, entry.call);
      theirs.push_back(std::move(entry));
    } else if (entry.peer == sender || own_calls.contains({entry.file, entry.call}) ||
               (entry.agent == "league_manager" && registered.contains(entry.conversation_id))) {
      theirs.push_back(std::move(entry));
    }
  }
  return theirs.empty() ? own : theirs;
}

bool may_concern(const audit::log::LogEntry& entry, const std::string& sender) {
  return entry.agent == sender || entry.peer == sender || entry.said_by == sender ||
         entry.message_type.starts_with("LEAGUE_REGISTER_");
}

}  // namespace

int audit_log(const std::filesystem::path& directory, const std::string& player,
              AuditOutput options, std::ostream& out, std::ostream& err) {
  std::string id = player.starts_with("player:") ? player.substr(7) : player;
  audit::log::LogSearch search = audit::log::search_logs(
      logs_of(directory),
      [sender = "player:" + id](const auto& entry) { return may_concern(entry, sender); });
  if (!has_logs(search, directory, err)) return 2;
  std::uint64_t records = search.records;
  std::uint64_t hearsay = 0;
  std::vector<audit::log::LoggedMessage> exchanges =
      audit::log::merge_records(about(std::move(search), id, hearsay));
  PlayerReport report = report_on(id, exchanges);
  report.hearsay = hearsay;
  if (auto data = league_manager::files::find_data(directory)) {
    if (auto added = add_journal(*data, report); !added)
      err << "warning: " << printable(added.error().message, 400) << '\n';
  }
  if (options.json) {
    out << rpc::to_json_text(to_json(report, exchanges)) << '\n';
  } else if (!exchanges.empty()) {
    print_report(report, exchanges, Paint(options.colour), out);
  }
  if (exchanges.empty()) {
    err << "player " << printable(id, 70) << " appears in none of the " << records
        << " records; ids look like P01\n";
    return 1;
  }
  return report.faults.empty() && report.losses.empty() ? 0 : 1;
}

}  // namespace league::tools::auditor
