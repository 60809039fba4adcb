#include "tools/league/up/league_progress.h"

#include <nlohmann/json.hpp>

#include "common/core/counted.h"
#include "common/schema/json_fields.h"
#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

using nlohmann::json;

int number(const json& object, const char* name) {
  return static_cast<int>(schema::number_at(object, name).value_or(0));
}

std::optional<double> real(const json& object, const char* name) {
  const json& found = schema::field_at(object, name);
  return found.is_number() ? std::optional(found.get<double>()) : std::nullopt;
}

std::optional<core::UtcTimestamp> instant(const json& object, const char* name) {
  auto parsed = core::UtcTimestamp::parse(schema::text_at(object, name));
  if (!parsed) return std::nullopt;
  return *parsed;
}

TableRow parse_row(const json& row) {
  return {.rank = number(row, "rank"),
          .player_id = schema::text_at(row, "player_id"),
          .display_name = schema::text_at(row, "display_name"),
          .played = number(row, "played"),
          .wins = number(row, "wins"),
          .draws = number(row, "draws"),
          .losses = number(row, "losses"),
          .points = number(row, "points"),
          .rating = real(row, "rating"),
          .rating_error = real(row, "rating_error"),
          .p_first = real(row, "p_first")};
}

std::vector<std::string> ids_in(const json& list) {
  std::vector<std::string> ids;
  if (!list.is_array()) return ids;
  for (const auto& id : list) {
    if (id.is_string()) ids.push_back(id.get<std::string>());
  }
  return ids;
}

}  // namespace

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

std::string replication_line(const json& status) {
  const json& replication = schema::field_at(status, "replication");
  if (!replication.is_object()) return {};
  const auto counted = [](const json& object, const char* name) {
    return std::to_string(schema::number_at(object, name).value_or(0));
  };
  const std::string leader = safe_text(schema::text_at(replication, "leader"));
  std::string line = "managers: " + (leader.empty() ? "nobody" : leader) + " leads in term " +
                     counted(replication, "term") + ", and " +
                     counted(replication, "acknowledged") + " of its " +
                     counted(replication, "written") + " events are acknowledged";
  const json& standbys = schema::field_at(replication, "standbys");
  const bool has_standbys = standbys.is_array() && !standbys.empty();
  if (!has_standbys) line += "; there is no stand-by";
  for (const json& standby : has_standbys ? standbys : json::array()) {
    line += "; stand-by " + safe_text(schema::text_at(standby, "name"));
    if (schema::field_at(standby, "in_sync") == true) {
      line += " is in sync";
      continue;
    }
    line += " has " + counted(standby, "entries") + " events";
    const json& silent = schema::field_at(standby, "silent_seconds");
    constexpr double kPresent = 2;
    if (silent.is_number() && silent.get<double>() >= kPresent)
      line += " and is silent for " + short_number(silent.get<double>()) + " s";
  }
  const std::string waits_for = safe_text(schema::text_at(replication, "waits_for"));
  return waits_for.empty() ? line : line + "; waiting: " + waits_for;
}

LeagueProgress parse_progress(const json& status) {
  if (!status.is_object()) return {};
  LeagueProgress progress{.league_id = schema::text_at(status, "league_id"),
                          .state = schema::text_at(status, "state"),
                          .players = number(status, "players"),
                          .players_expected = number(status, "players_expected"),
                          .referees = number(status, "referees"),
                          .referees_expected = number(status, "referees_expected"),
                          .current_round = number(status, "current_round"),
                          .total_rounds = number(status, "total_rounds"),
                          .total_matches = number(status, "total_matches"),
                          .matches_completed = number(status, "matches_completed"),
                          .technical_losses = number(status, "technical_losses"),
                          .is_paused = schema::field_at(status, "paused") == true,
                          .pause_reason = schema::text_at(status, "pause_reason"),
                          .champion = std::nullopt,
                          .luck = real(status, "luck"),
                          .luck_sentence = schema::text_at(status, "luck_sentence"),
                          .shares_first_place = {},
                          .disputed = {},
                          .started_at = instant(status, "started_at"),
                          .completed_at = instant(status, "completed_at")};
  for (const auto& [match, players] : schema::field_at(status, "disputed").items())
    progress.disputed.emplace(match, ids_in(players));
  const json& champion = schema::field_at(status, "champion");
  if (champion.is_object()) progress.champion = parse_row(champion);
  progress.is_decided = schema::field_at(champion, "decided") != false;
  progress.shares_first_place = ids_in(schema::field_at(status, "shared_first_place"));
  return progress;
}

std::vector<TableRow> parse_rows(const json& rows) {
  std::vector<TableRow> table;
  for (const auto& row : rows) {
    if (row.is_object()) table.push_back(parse_row(row));
  }
  return table;
}

}  // namespace league::tools
