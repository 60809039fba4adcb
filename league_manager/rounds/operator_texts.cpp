#include "league_manager/rounds/operator_texts.h"

#include <cstdint>
#include <nlohmann/json.hpp>

namespace league::league_manager {

std::string end_of_league(const core::LeagueId& id, const nlohmann::json& status) {
  std::string text = "league " + id.str() + " is over";
  const auto& champion = status["champion"];
  if (!champion.is_object()) return text;
  text += ": " + champion["player_id"].get<std::string>() + " '" +
          champion["display_name"].get<std::string>() + "' is first with " +
          std::to_string(champion["points"].get<int>()) + " points";
  if (!status.contains("shared_first_place")) return text;
  text += ", and shares the first place with";
  for (const auto& other : status["shared_first_place"]) {
    if (other != champion["player_id"]) text += " " + other.get<std::string>();
  }
  return text;
}

std::string continuation_of(const core::LeagueId& id, const std::string& url,
                            const nlohmann::json& status) {
  const auto number = [&status](const char* name) {
    return std::to_string(status[name].get<std::int64_t>());
  };
  return "league " + id.str() + " continues at " + url + ": " + status["state"].get<std::string>() +
         ", " + number("players") + " of " + number("players_expected") + " players, round " +
         number("current_round") + " of " + number("total_rounds") + ", " +
         number("matches_completed") + " of " + number("total_matches") + " matches are finished";
}

std::string who_can_register(const std::string& bind_address, bool is_on_bus,
                             const Admission& admission) {
  bool is_local =
      bind_address.starts_with("127.") || bind_address == "::1" || bind_address == "localhost";
  if (is_local && !is_on_bus) return {};
  return "the manager " + (is_local ? std::string("is on a bus") : "listens on " + bind_address) +
         ": " + admission.players_text() + ". Moreover, " + admission.referees_text() + ".";
}

}  // namespace league::league_manager
