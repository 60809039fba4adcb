#include "common/envelope/report_forms.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace league::envelope {
namespace {

using nlohmann::json;
using enum Leniency;

/// Moves `from` of `source` to `name` of `target` unless the target already has it.
bool take(json& source, std::string_view from, json& target, std::string_view name) {
  auto found = source.find(from);
  if (found == source.end() || target.contains(name)) return false;
  json value = std::move(*found);
  source.erase(found);
  target[std::string(name)] = std::move(value);
  return true;
}

/// Moves winner and points from the fields of `source` that can contain them.
bool take_outcome(json& source, json& result) {
  bool moved = false;
  for (std::string_view name : {"winner_id", "winner_player_id"})
    moved = take(source, name, result, "winner") || moved;
  return take(source, "scores", result, "score") || moved;
}

bool take_details(json& source, json& details) {
  bool moved = false;
  for (std::string_view name : {"drawn_number", "number_parity", "choices", "termination"})
    moved = take(source, name, details, name) || moved;
  return moved;
}

/// Converts `players: {"P01": {"result": "WIN", "points": 3}}` to winner and score.
bool take_players(json& source, json& result) {
  auto players = source.find("players");
  if (players == source.end() || !players->is_object() || result.contains("score")) return false;
  json score = json::object();
  json winner = nullptr;
  for (const auto& [id, row] : players->items()) {
    if (!row.is_object() || !row.contains("points")) return false;
    score[id] = row["points"];
    if (auto said = row.find("result"); said != row.end() && *said == "WIN") winner = id;
  }
  result["score"] = std::move(score);
  if (!result.contains("winner")) result["winner"] = std::move(winner);
  return true;
}

/// Corrects a draw of Even/Odd that is reported as 0 : 0, as one code base does. A match with a
/// drawn number and no `termination` was played, so no player failed.
void read_draw(json& result, Leniencies& taken) {
  const json& details = result["details"];
  const auto number = details.find("drawn_number");
  const bool is_played =
      number != details.end() && number->is_number_integer() && !details.contains("termination");
  const auto winner = result.find("winner");
  const auto score = result.find("score");
  if (!is_played || (winner != result.end() && !winner->is_null())) return;
  if (score == result.end() || !score->is_object() || score->size() != 2) return;
  if (std::any_of(score->begin(), score->end(), [](const json& points) { return points != 0; }))
    return;
  for (json& points : *score) points = 1;
  taken.add(kDrawScoreZero);
}

/// Whether `result` is an object; creates it if its fields are in the message itself.
bool find_result(json& message, Leniencies& taken) {
  auto found = message.find("result");
  if (found != message.end()) return found->is_object();
  constexpr std::array<std::string_view, 5> kOutcome = {"winner", "winner_id", "winner_player_id",
                                                        "score", "players"};
  bool is_flat = false;
  for (std::string_view name : kOutcome) is_flat = is_flat || message.contains(name);
  if (!is_flat) return false;
  json result = json::object();
  take(message, "winner", result, "winner");
  take(message, "score", result, "score");
  message["result"] = std::move(result);
  taken.add(kReportForm);
  return true;
}

}  // namespace

void read_report(json& message, Leniencies& taken) {
  if (!find_result(message, taken)) return;
  json result = std::move(message["result"]);
  bool moved = take_outcome(result, result);
  moved = take_outcome(message, result) || moved;
  moved = take_players(result, result) || moved;
  moved = take_players(message, result) || moved;
  if (!result.contains("details") || result["details"].is_null()) {
    result["details"] = json::object();
    moved = true;
  }
  if (json& details = result["details"]; details.is_object()) {
    moved = take_details(result, details) || moved;
    moved = take_details(message, details) || moved;
    if (auto number = details.find("drawn_number"); number != details.end() && *number == 0) {
      *number = nullptr;
      taken.add(kDrawnNumberZero);
    }
    if (auto status = result.find("status");
        status != result.end() && *status == "TECHNICAL_LOSS" && !details.contains("termination"))
      details["termination"] = *status;
    const auto game = message.find("game_type");
    if (game == message.end() || *game == "even_odd") read_draw(result, taken);
  }
  message["result"] = std::move(result);
  if (moved) taken.add(kReportForm);
}

}  // namespace league::envelope
