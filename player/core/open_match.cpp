#include "player/core/open_match.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/core/crypto.h"
#include "common/rpc/json_object.h"
#include "game/commitment.h"

namespace league::player {

using nlohmann::json;

std::optional<std::string> OpenMatch::commitment() const {
  if (!is_committed()) return std::nullopt;
  return game::choice_commitment({.draw_commitment = draw_commitment,
                                  .match_id = match_id.str(),
                                  .player_id = player_id.str(),
                                  .choice = choice,
                                  .nonce = nonce});
}

bool OpenMatch::is_same_match(const OpenMatch& other) const {
  return player_id == other.player_id && match_id == other.match_id &&
         game_type == other.game_type && draw_commitment == other.draw_commitment;
}

OpenMatch after_invitation(const OpenMatch* known, OpenMatch invited) {
  if (known == nullptr || !known->is_same_match(invited)) return invited;
  const bool is_repetition =
      invited.attempt > 0 && known->attempt == invited.attempt && known->play == invited.play;
  if (is_repetition || !known->is_revealed || known->is_bound_by_both()) {
    OpenMatch same = *known;
    same.attempt = invited.attempt;
    same.play = invited.play;
    return same;
  }
  invited.earlier_commitment = known->commitment();
  return invited;
}

void commit(OpenMatch& match, std::string choice, core::RandomSource& random) {
  match.choice = std::move(choice);
  match.nonce = core::to_hex(random.bytes<32>());
}

std::optional<std::string> handed_over(OpenMatch& match,
                                       const std::optional<std::string>& opponent_commitment) {
  match.revealed_attempt = match.attempt;
  match.revealed_play = match.play;
  if (!std::exchange(match.is_revealed, true)) {
    match.opponent_commitment = opponent_commitment;
    return std::nullopt;
  }
  if (match.opponent_commitment == opponent_commitment) return std::nullopt;
  if (!opponent_commitment) return "the opponent's commitment, handed over before, is missing now";
  return "the opponent's commitment is not the one that was handed over before";
}

std::string open_match_to_text(const OpenMatch& match) {
  std::string text;
  rpc::JsonObject note(text);
  note.text("player_id", match.player_id.str())
      .text("league_id", match.league_id.str())
      .text("match_id", match.match_id.str())
      .number("round_id", match.round_id)
      .text("game_type", match.game_type)
      .text("role_in_match", game::side_name(match.side))
      .text("opponent_id", match.opponent_id.str())
      .text("draw_commitment", match.draw_commitment)
      .text("choice", match.choice)
      .text("choice_nonce", match.nonce)
      .flag("revealed", match.is_revealed);
  if (match.attempt > 0) note.number("attempt", match.attempt).number("play", match.play);
  if (match.revealed_attempt > 0)
    note.number("revealed_attempt", match.revealed_attempt)
        .number("revealed_play", match.revealed_play);
  if (match.opponent_commitment) note.text("opponent_commitment", *match.opponent_commitment);
  if (match.earlier_commitment) note.text("earlier_commitment", *match.earlier_commitment);
  note.end();
  return text;
}

std::optional<OpenMatch> open_match_from_json(const json& note) {
  const auto text = [&note](const char* field) { return note.at(field).get<std::string>(); };
  const auto optional_text = [&](const char* field) {
    return note.contains(field) ? std::optional(text(field)) : std::nullopt;
  };
  try {
    OpenMatch match{.player_id = core::PlayerId(text("player_id")),
                    .league_id = core::LeagueId(text("league_id")),
                    .match_id = core::MatchId(text("match_id")),
                    .game_type = text("game_type"),
                    .opponent_id = core::PlayerId(text("opponent_id")),
                    .draw_commitment = text("draw_commitment"),
                    .choice = text("choice"),
                    .nonce = text("choice_nonce"),
                    .is_revealed = note.at("revealed").get<bool>(),
                    .opponent_commitment = optional_text("opponent_commitment"),
                    .earlier_commitment = optional_text("earlier_commitment")};
    const std::string role = text("role_in_match");
    constexpr int kMost = 1'000'000'000;
    const auto count = [&note](const char* field) {
      const auto found = note.find(field);
      if (found == note.end()) return 0;
      const auto value = found->get<std::int64_t>();
      return value < 0 || value > kMost ? -1 : static_cast<int>(value);
    };
    match.attempt = count("attempt");
    match.play = count("play");
    match.revealed_attempt = count("revealed_attempt");
    match.revealed_play = count("revealed_play");
    if (std::min({match.attempt, match.play, match.revealed_attempt, match.revealed_play}) < 0)
      return std::nullopt;
    const json& round = note.at("round_id");
    if (role == game::side_name(game::Side::kB)) match.side = game::Side::kB;
    if (match.match_id.empty() || match.choice.empty() || !game::is_hex_256(match.nonce) ||
        role != game::side_name(match.side) || !round.is_number_integer() || round < 0 ||
        round > kMost)
      return std::nullopt;
    match.round_id = round.get<int>();
    return match;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace league::player
