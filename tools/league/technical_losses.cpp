#include "tools/league/technical_losses.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "common/audit/conversation.h"
#include "common/core/error_code.h"
#include "common/core/ids.h"
#include "tools/league/audit_body.h"

namespace league::tools {
namespace {

using nlohmann::json;

std::string text(const json& object, const char* name) {
  auto it = object.is_object() ? object.find(name) : object.end();
  return object.is_object() && it != object.end() && it->is_string() ? it->get<std::string>() : "";
}

std::string code_text(const std::string& wire) {
  auto code = core::parse_error_code(wire);
  return code ? wire + " " + std::string(core::error_info(*code).name) : wire;
}

/// What the player's last failure was.
std::string reason_of(const json& details, const std::string& player) {
  std::string reason;
  if (auto failures = details.find("failures"); failures != details.end() && failures->is_array()) {
    for (const auto& failure : *failures) {
      if (text(failure, "player_id") == player)
        reason = text(failure, "call") + ": " + code_text(text(failure, "error_code"));
    }
  }
  return reason;
}

bool is_report(const audit::LogEntry& entry) {
  return entry.message_type == "MATCH_RESULT_REPORT" && entry.kind == "request" &&
         !entry.outbound && entry.verdict.empty();
}

using Found = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

void read_report(const audit::LogEntry& entry, Found& found) {
  json message = message_of(entry);
  if (!message.is_object() || !message["result"].is_object()) return;
  const json& result = message["result"];
  auto details = result.find("details");
  auto score = result.find("score");
  if (details == result.end() || !details->is_object()) return;
  if (score == result.end() || !score->is_object()) return;
  for (const auto& [player, points] : score->items()) {
    if (points != 0) continue;
    std::string reason = reason_of(*details, player);
    bool was_played = details->contains("drawn_number") && (*details)["drawn_number"].is_number();
    if (was_played) continue;
    if (reason.empty()) reason = text(*details, "termination");
    found[{player, reason}].push_back(entry.match_id);
  }
}

}  // namespace

std::vector<TechnicalLosses> technical_losses_of(const std::vector<audit::LogEntry>& reports) {
  Found found;
  std::set<std::string> seen;  // a report may be repeated
  for (const auto& entry : reports) {
    if (is_report(entry) && seen.insert(entry.match_id).second) read_report(entry, found);
  }
  std::vector<TechnicalLosses> losses;
  for (auto& [key, matches] : found) losses.push_back({key.first, key.second, std::move(matches)});
  std::stable_sort(losses.begin(), losses.end(), [](const auto& a, const auto& b) {
    return core::natural_less(a.player_id, b.player_id);
  });
  return losses;
}

std::vector<TechnicalLosses> find_technical_losses(const std::filesystem::path& logs) {
  return technical_losses_of(audit::search_logs(logs / "league", is_report).entries);
}

}  // namespace league::tools
