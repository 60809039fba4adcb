#include "tools/league/up/league_progress.h"

#include <nlohmann/json.hpp>

#include "common/core/counted.h"
#include "common/schema/fields.h"
#include "common/schema/json_fields.h"
#include "league_manager/spectators/replication_figures.h"
#include "tools/league/up/table_text.h"

namespace league::tools {

using league_manager::spectators::ReplicationFigures;
void TableRow::describe(schema::Fields& a) {
  a.required("rank", rank, "player_id", player_id, "display_name", display_name, "played", played,
             "wins", wins, "draws", draws, "losses", losses, "points", points);
  describe_figures(a);
}

void TableRow::describe_figures(schema::Fields& a) {
  a.optional("rating", rating, "rating_error", rating_error, "p_first", p_first);
}

void LeagueProgress::describe(schema::Fields& a) {
  a.required("league_id", league_id, "state", state, "players", players, "players_expected",
             players_expected, "referees", referees, "referees_expected", referees_expected,
             "current_round", current_round, "total_rounds", total_rounds, "total_matches",
             total_matches, "matches_completed", matches_completed, "technical_losses",
             technical_losses);
  a.flag("paused", is_paused);
  a.filled("pause_reason", pause_reason);
  a.nullable("champion", champion);
  a.object("champion",
           [this](schema::Fields& of_champion) { of_champion.defaulted("decided", is_decided); });
  a.optional("luck", luck);
  a.filled("luck_sentence", luck_sentence);
  a.filled("shared_first_place", shares_first_place);
  a.filled("disputed", disputed);
  a.nullable("started_at", started_at);
  a.nullable("completed_at", completed_at);
}

double LeagueProgress::seconds(core::UtcTimestamp now) const {
  if (!started_at) return 0;
  auto end = completed_at.value_or(now);
  return std::chrono::duration<double>(end.instant() - started_at->instant()).count();
}

std::string champion_line(const LeagueProgress& progress) {
  const TableRow& champion = *progress.champion;
  std::string line = (progress.is_decided ? "champion: " : "first, not decided: ") +
                     safe_text(champion.display_name) + " (" + safe_text(champion.player_id) +
                     ") with " + core::counted(champion.points, "point");
  const char* separator = "; first place is shared with ";
  for (const auto& id : progress.shares_first_place) {
    if (id == champion.player_id) continue;
    line += separator + safe_text(id);
    separator = ", ";
  }
  return line;
}

std::string replication_line(const nlohmann::json& status) {
  const auto& found = schema::field_at(status, "replication");
  if (!found.is_object()) return {};
  const auto known = schema::read_loosely<ReplicationFigures>(found);
  std::string line = "managers: " + (known.leader.empty() ? "nobody" : safe_text(known.leader)) +
                     " leads in term " + std::to_string(known.term) + ", and " +
                     std::to_string(known.acknowledged) + " of its " +
                     std::to_string(known.written) + " events are acknowledged";
  if (known.standbys.empty()) line += "; there is no stand-by";
  for (const ReplicationFigures::Standby& standby : known.standbys) {
    line += "; stand-by " + safe_text(standby.name);
    if (standby.in_sync) {
      line += " is in sync";
      continue;
    }
    line += " has " + std::to_string(standby.entries) + " events";
    constexpr double kPresent = 2;
    if (standby.silent_seconds >= kPresent)
      line += " and is silent for " + short_number(standby.silent_seconds) + " s";
  }
  return known.waits_for.empty() ? line : line + "; waiting: " + safe_text(known.waits_for);
}

LeagueProgress parse_progress(const nlohmann::json& status) {
  return schema::read_loosely<LeagueProgress>(status);
}

std::vector<TableRow> parse_rows(const nlohmann::json& rows) {
  return schema::read_loosely<std::vector<TableRow>>(rows);
}

}  // namespace league::tools
