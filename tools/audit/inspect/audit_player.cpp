#include "tools/audit/inspect/audit_commands.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string_view>
#include <utility>

#include "common/audit/log/conversation.h"
#include "common/envelope/display_name.h"
#include "common/rpc/json_text.h"
#include "league_manager/files/journal_book.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/facts/record.h"
#include "tools/audit/inspect/audit_report.h"
#include "tools/audit/inspect/audit_text.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

bool is_registration(const audit::log::LogEntry& entry) {
  return entry.message_type == "LEAGUE_REGISTER_REQUEST" ||
         entry.message_type == "REFEREE_REGISTER_REQUEST";
}

bool is_registered(const audit::log::LogEntry& entry) {
  return entry.message_type == "LEAGUE_REGISTER_RESPONSE" ||
         entry.message_type == "REFEREE_REGISTER_RESPONSE";
}

/// The id that an answer to a registration gives; empty: none.
std::string given_id(const json& answer) {
  const std::string& player = text_at(answer, "player_id");
  return player.empty() ? text_at(answer, "referee_id") : player;
}

/// Who registered with this display name, last of all, as a sender; empty: nobody.
std::string sender_named(const std::filesystem::path& directory, const std::string& name) {
  const std::string wanted = envelope::comparable_name(name);
  std::set<std::pair<std::string, std::uint64_t>> asked;
  std::string sender;
  (void)audit::log::search_logs(logs_of(directory), [&](const audit::log::LogEntry& entry) {
    if (entry.agent != "league_manager" || !(is_registration(entry) || is_registered(entry)))
      return false;
    const json message = message_of(entry);
    const bool is_player = entry.message_type.starts_with("LEAGUE_");
    if (is_registration(entry)) {
      const json& meta = field_at(message, is_player ? "player_meta" : "referee_meta");
      if (envelope::comparable_name(text_at(meta, "display_name")) == wanted)
        asked.emplace(entry.file, entry.call);
    } else if (const std::string id = given_id(message);
               !id.empty() && asked.contains({entry.file, entry.call})) {
      sender = (is_player ? "player:" : "referee:") + id;
    }
    return false;
  });
  return sender;
}

/// Such as `P01` and `REF01`.
bool is_id(std::string_view who, std::string_view prefix) {
  if (!who.starts_with(prefix)) return false;
  const std::string_view number = who.substr(prefix.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Of `P01`, `REF01`, `player:P01` or a display name.
std::string sender_of(const std::filesystem::path& directory, const std::string& who) {
  if (who.starts_with("player:") || who.starts_with("referee:")) return who;
  if (is_id(who, "P")) return "player:" + who;
  if (is_id(who, "REF")) return "referee:" + who;
  const std::string named = sender_named(directory, who);
  return named.empty() ? "player:" + who : named;
}

/// The conversations in which the agent got its id; it still has a temporary name in them. Only of
/// logs before version 3: any bot may use the conversation of another.
std::set<std::string> registrations(const audit::log::LogSearch& search,
                                    const std::string& sender) {
  std::set<std::string> ids;
  const std::string id = sender.substr(sender.find(':') + 1);
  for (const audit::log::LogEntry& entry : search.entries) {
    if (entry.version < audit::log::kFirstVersionWithSpeakers && is_registered(entry) &&
        given_id(message_of(entry)) == id) {
      ids.insert(entry.conversation_id);
    }
  }
  ids.erase("");
  return ids;
}

/// The records about the player in other agents' logs; if there are none, those in its own log.
/// Counts in `hearsay` what somebody sent in its name without proof, which is left out.
std::vector<audit::log::LogEntry> about(audit::log::LogSearch search, const std::string& sender,
                                        std::uint64_t& hearsay) {
  std::set<std::string> registered = registrations(search, sender);
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
         is_registration(entry) || is_registered(entry);
}

}  // namespace

int audit_log(const std::filesystem::path& directory, const std::string& who, AuditOutput options,
              std::ostream& out, std::ostream& err) {
  const std::string sender = sender_of(directory, who);
  audit::log::LogSearch search = audit::log::search_logs(
      logs_of(directory), [&sender](const auto& entry) { return may_concern(entry, sender); });
  if (!has_logs(search, directory, err)) return 2;
  std::uint64_t records = search.records;
  std::uint64_t hearsay = 0;
  std::vector<audit::log::LoggedMessage> exchanges =
      audit::log::merge_records(about(std::move(search), sender, hearsay));
  AgentReport report = report_on(sender, exchanges);
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
    err << printable(who, 70) << " appears in none of the " << records
        << " records; give an id, such as P01 or REF01, or the name of an agent\n";
    return 1;
  }
  return report.faults.empty() && report.losses.empty() ? 0 : 1;
}

}  // namespace league::tools::auditor
