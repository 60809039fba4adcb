#include "tools/check/game_truth.h"

#include <nlohmann/json.hpp>

#include "game/files/game_file.h"
#include "game/result.h"

namespace league::tools::check {

using game::Side;
using nlohmann::json;

namespace {

struct GameInUse {
  game::SharedDefinition definition = game::even_odd();
  std::string file;
};

GameInUse& game_in_use() {
  static GameInUse game;
  return game;
}

}  // namespace

const game::SharedDefinition& tested_game() { return game_in_use().definition; }

core::Result<void> set_tested_game(const std::string& name_or_file) {
  game::Games games = game::Games::standard();
  auto found = game::files::find_game(games, name_or_file);
  if (!found) return found.error();
  game_in_use() = {std::move(*found),
                   game::files::is_game_file(name_or_file) ? name_or_file : std::string()};
  return {};
}

const std::string& file_of_tested_game() { return game_in_use().file; }

std::string game_word(std::size_t place) { return tested_game()->choices()[place]; }

bool is_game_word(const std::string& text) { return tested_game()->index_of(text).has_value(); }

json game_context() {
  return {{"choices", tested_game()->choices()}, {"meeting", 1}, {"meetings", 1}};
}

json game_over_fields(const GameTruth& truth) {
  const game::Definition& rules = *tested_game();
  const std::size_t a = truth.is_first_a ? 0 : 1;
  const std::array<std::size_t, 2> place = {a, 1 - a};
  game::Choices choices;
  game::Bindings bindings;
  for (Side side : game::kBothSides) {
    const std::size_t at = place[game::index(side)];
    choices[side] = truth.choices[at];
    if (truth.commitments[at].empty()) continue;
    bindings.commitments[side] = truth.commitments[at];
    bindings.nonces[side] = truth.nonces[at];
  }
  const auto played = game::play(
      rules,
      {.seed = truth.seed, .match_id = truth.match_id, .choices = choices, .bindings = bindings});
  const auto number = played.result.drawn_number;
  const auto winner = game::winner_of(played.result.outcome);
  json result = {{"status", winner ? "WIN" : "DRAW"},
                 {"winner_player_id", nullptr},
                 {"drawn_number", number ? json(*number) : json()},
                 {"number_parity", number ? json(std::string(*rules.kind_of(*number))) : json()},
                 {"choices", json::object()},
                 {"reason", played.reason}};
  if (winner) result["winner_player_id"] = truth.players[place[game::index(*winner)]];
  json fields = {{"reason", played.reason},
                 {"draw_proof", core::to_hex(truth.seed)},
                 {"draw_version", game::draw_version(bindings)},
                 {"choice_commitments", json::object()},
                 {"choice_nonces", json::object()}};
  for (std::size_t at = 0; at < 2; ++at) {
    result["choices"][truth.players[at]] = truth.choices[at];
    if (truth.commitments[at].empty()) continue;
    fields["choice_commitments"][truth.players[at]] = truth.commitments[at];
    fields["choice_nonces"][truth.players[at]] = truth.nonces[at];
  }
  fields["game_result"] = std::move(result);
  return fields;
}

}  // namespace league::tools::check
