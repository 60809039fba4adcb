#include "referee/service/foreign_start.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "common/agent/dialects/reply_dialect.h"
#include "common/core/comparable_address.h"

namespace league::referee::service {
namespace {

using core::Error;
using core::ErrorCode;
using core::Result;
using nlohmann::json;
using Names = std::initializer_list<const char*>;

constexpr std::size_t kLongestId = 64;
constexpr std::size_t kLongestUrl = 256;
constexpr std::size_t kMostMatches = 1024;
constexpr std::int64_t kMostRounds = 1'000'000;

/// The first member among `names` that is a text of at most `longest` bytes; empty if there is
/// none.
std::string text_of(const json& object, Names names, std::size_t longest = kLongestId) {
  for (const char* name : names) {
    auto found = object.find(name);
    if (found == object.end() || !found->is_string()) continue;
    const auto& text = found->get_ref<const std::string&>();
    if (!text.empty() && text.size() <= longest) return text;
  }
  return {};
}

/// The round's number, for example 3 from 3, "3", "R3" or "ROUND_3".
int round_of(const json& object) {
  for (const char* name : {"round_id", "round", "round_number"}) {
    auto found = object.find(name);
    if (found == object.end()) continue;
    if (found->is_number_integer())
      return static_cast<int>(std::clamp<std::int64_t>(found->get<std::int64_t>(), 1, kMostRounds));
    if (!found->is_string()) continue;
    const auto& text = found->get_ref<const std::string&>();
    const auto digits = text.find_first_of("0123456789");
    int round = 0;
    if (digits == std::string::npos) continue;
    std::from_chars(text.data() + digits, text.data() + text.size(), round);
    if (round > 0) return std::min(round, static_cast<int>(kMostRounds));
  }
  return 1;
}

std::string address_in(const json& player) {
  return text_of(player, {"contact_endpoint", "endpoint", "player_endpoint", "url"}, kLongestUrl);
}

void read_side(const json& object, Side side, ForeignMatch& match) {
  const bool is_a = side == Side::kA;
  std::string id = is_a ? text_of(object, {"player_A_id", "player_a_id", "player1_id",
                                           "player_1_id", "player_a", "player_A", "player1"})
                        : text_of(object, {"player_B_id", "player_b_id", "player2_id",
                                           "player_2_id", "player_b", "player_B", "player2"});
  match.endpoints[side] = is_a ? text_of(object,
                                         {"player_A_endpoint", "player_a_endpoint",
                                          "player1_endpoint", "player_1_endpoint"},
                                         kLongestUrl)
                               : text_of(object,
                                         {"player_B_endpoint", "player_b_endpoint",
                                          "player2_endpoint", "player_2_endpoint"},
                                         kLongestUrl);
  match.players[side] = core::PlayerId(std::move(id));
}

Result<ForeignMatch> read_match(const json& object, const json& around) {
  if (!object.is_object())
    return agent::dialects::with_received(
        {ErrorCode::kInvalidFieldType, "a match must be an object", "/matches"}, object);
  ForeignMatch match;
  match.match_id = core::MatchId(text_of(object, {"match_id", "game_id", "id"}));
  if (match.match_id.empty())
    return agent::dialects::with_received(
        {ErrorCode::kMissingRequiredField, "match_id is missing", "/match_id"}, object);
  const bool has_own_round = object.contains("round_id") || object.contains("round");
  match.round_id = round_of(has_own_round ? object : around);
  match.game_type = text_of(object, {"game_type", "game"});
  match.referee_id = text_of(object, {"referee_id", "referee"});
  match.referee_endpoint = text_of(object, {"referee_endpoint"}, kLongestUrl);
  match.status = text_of(object, {"status"});
  for (Side side : kBothSides) {
    read_side(object, side, match);
    if (!match.players[side].empty()) continue;
    return agent::dialects::with_received(
        {ErrorCode::kMissingRequiredField,
         std::string(side == Side::kA ? "player_A_id" : "player_B_id") + " of match " +
             match.match_id.str() + " is missing",
         side == Side::kA ? "/player_A_id" : "/player_B_id"},
        object);
  }
  return match;
}

void read_players(const json& players, PlayerAddresses& found) {
  if (players.is_array()) {
    for (const json& player : players) {
      if (!player.is_object()) continue;
      auto id = text_of(player, {"player_id", "id"});
      auto address = address_in(player);
      if (address.empty() && player.contains("player_meta") && player["player_meta"].is_object())
        address = address_in(player["player_meta"]);
      if (!id.empty() && !address.empty()) found[core::PlayerId(id)] = std::move(address);
    }
  } else if (players.is_object()) {
    for (const auto& [id, player] : players.items()) {
      auto address = player.is_string()   ? player.get<std::string>()
                     : player.is_object() ? address_in(player)
                                          : std::string();
      const bool is_address = !address.empty() && address.size() <= kLongestUrl &&
                              address.find(':') != std::string::npos;
      if (is_address && id.size() <= kLongestId) found[core::PlayerId(id)] = std::move(address);
    }
  }
}

}  // namespace

Result<std::vector<ForeignMatch>> read_foreign_start(const json& message) {
  std::vector<ForeignMatch> matches;
  auto listed = message.find("matches");
  if (listed == message.end() || !listed->is_array()) {
    auto inner = message.find("match");
    const bool is_inside = inner != message.end() && inner->is_object();
    auto match = read_match(is_inside ? *inner : message, message);
    if (!match) return match.error();
    matches.push_back(std::move(*match));
    return matches;
  }
  for (const json& one : *listed) {
    if (matches.size() == kMostMatches) break;
    auto match = read_match(one, message);
    if (!match) return match.error();
    matches.push_back(std::move(*match));
  }
  return matches;
}

bool is_for(const ForeignMatch& match, std::string_view referee_id,
            std::string_view contact_endpoint) {
  if (!match.referee_id.empty())
    return match.referee_id == referee_id ||
           match.referee_id == "referee:" + std::string(referee_id);
  if (match.referee_endpoint.empty()) return true;
  return core::ComparableAddress::parse(match.referee_endpoint) ==
         core::ComparableAddress::parse(contact_endpoint);
}

PlayerAddresses read_addresses(const json& answer) {
  PlayerAddresses found;
  if (!answer.is_object() && !answer.is_array()) return found;
  if (answer.is_array()) {
    read_players(answer, found);
    return found;
  }
  bool is_wrapped = false;
  for (const char* name : {"players", "registrations", "registered_players"}) {
    if (!answer.contains(name)) continue;
    is_wrapped = true;
    read_players(answer[name], found);
  }
  for (const char* name : {"data", "result", "response", "structuredContent"}) {
    if (!answer.contains(name) || !answer[name].is_object()) continue;
    is_wrapped = true;
    found.merge(read_addresses(answer[name]));
  }
  if (!is_wrapped) read_players(answer, found);
  return found;
}

std::string_view start_tool_alias(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"START_MATCH", "assign_match", "ASSIGN_MATCH",
                                       "MATCH_ASSIGNMENT", "match_assignment", "receive_match"});
  return std::ranges::find(kNames, name) != kNames.end() ? "start_match" : std::string_view();
}

void add_usual_spellings(json& report) {
  json& result = report["result"];
  const json details = result.value("details", json::object());
  const json winner = result.value("winner", json(nullptr));
  const json number = details.value("drawn_number", json(nullptr));
  const char* status = number.is_null() ? "TECHNICAL_LOSS" : winner.is_null() ? "DRAW" : "WIN";
  json players = json::object();
  for (const auto& [id, points] : result["score"].items()) {
    const char* ending = winner.is_null() && !number.is_null() ? "DRAW"
                         : winner == id                        ? "WIN"
                                                               : "LOSS";
    players[id] = {{"result", ending}, {"points", points}};
  }
  const json flat = {{"status", status},
                     {"winner_id", winner},
                     {"winner_player_id", winner},
                     {"drawn_number", number},
                     {"number_parity", details.value("number_parity", json(nullptr))},
                     {"choices", details.value("choices", json::object())},
                     {"players", std::move(players)}};
  result.update(flat);
  report["winner"] = winner;
  report["score"] = result["score"];
  report["game_result"] = flat;
  // A `status` at the top level would be taken for the status of the message, not of the match.
  for (const auto& [name, value] : flat.items()) {
    if (name != "status") report[name] = value;
  }
}

}  // namespace league::referee::service
