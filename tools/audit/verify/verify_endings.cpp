#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/audit/evidence/json_fields.h"
#include "tools/audit/verify/verify_rules.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;

/// Whether two texts by player, of which one may lack a player, name different ones.
std::string other_player(const json& ours, const json& theirs) {
  if (!ours.is_object() || !theirs.is_object()) return {};
  for (const auto& [player, value] : theirs.items()) {
    const std::string& own = text_at(ours, player.c_str());
    if (value.is_string() && !own.empty() && value != own) return player;
  }
  return {};
}

/// In which field the result in a GAME_OVER is another one than that of the report that the manager
/// accepted; empty: in none. What one of them lacks or has in another form is not compared: a
/// third-party referee may say less, and the schema judges forms.
std::string first_difference(const json& message, const AcceptedReport& report) {
  const json& told = field_at(message, "game_result");
  const json& details = field_at(report.result, "details");
  if (!told.is_object()) return {};
  const json& winner = field_at(told, "winner_player_id");
  const bool has_winner =
      told.contains("winner_player_id") && (winner.is_string() || winner.is_null());
  if (has_winner && text_at(told, "winner_player_id") != text_at(report.result, "winner"))
    return "the winner";
  const auto number = number_at(told, "drawn_number");
  const auto drawn = number_at(details, "drawn_number");
  const bool says_none = told.contains("drawn_number") && told["drawn_number"].is_null();
  if (drawn && (says_none || (number && *number != *drawn))) return "the number";
  const std::string choice = other_player(field_at(details, "choices"), field_at(told, "choices"));
  if (!choice.empty()) return "the choice of " + choice;
  for (const char* key : {"choice_commitments", "choice_nonces"}) {
    const std::string player = other_player(field_at(details, key), field_at(message, key));
    if (!player.empty()) return std::string(key) + " of " + player;
  }
  return {};
}

}  // namespace

void check_endings(const std::vector<LeagueLog>& logs, const LeagueEvidence& evidence,
                   Findings& findings) {
  std::set<std::string> judged;
  for (const LeagueLog& log : logs) {
    for (const ReceivedGameOver& told : log.facts.ends) {
      const MatchEvidence* match = evidence.match(told.match_id);
      if (match == nullptr || !is_sealed(*log.log, told.place)) continue;
      std::string difference;
      bool fits = false;
      for (const AcceptedReport* report : match->reports) {
        const bool is_other_attempt = told.conversation != report->conversation &&
                                      match->assigned_in(told.conversation) != nullptr;
        if (report->sender != told.sender || is_other_attempt) continue;
        difference = first_difference(told.message, *report);
        fits = fits || difference.empty();
      }
      if (fits || difference.empty() || !judged.insert(told.match_id).second) continue;
      findings.fault(told.place, "over.contradicts",
                     told.sender + " told " + log.log->chain.agent + " another result of " +
                         told.match_id + " than the one that it reported: " + difference);
    }
  }
}

}  // namespace league::tools::auditor
