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

/// The places of players A and B in the arrays of a truth.
std::array<std::size_t, 2> places_of(const GameTruth& truth) {
  const std::size_t a = truth.is_first_a ? 0 : 1;
  return {a, 1 - a};
}

game::Choices choices_of(const GameTruth& truth) {
  game::Choices choices;
  for (Side side : game::kBothSides)
    choices[side] = truth.choices.at(places_of(truth).at(game::index(side)));
  return choices;
}

game::Bindings bindings_of(const GameTruth& truth) {
  game::Bindings bindings;
  for (Side side : game::kBothSides) {
    const std::size_t at = places_of(truth).at(game::index(side));
    if (truth.commitments.at(at).empty()) continue;
    bindings.commitments[side] = truth.commitments.at(at);
    bindings.nonces[side] = truth.nonces.at(at);
  }
  return bindings;
}

game::ExplainedResult result_of(const GameTruth& truth) {
  return game::play(*tested_game(), {.seed = truth.seed,
                                     .match_id = truth.match_id,
                                     .choices = choices_of(truth),
                                     .bindings = bindings_of(truth)});
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
  const auto played = result_of(truth);
  const auto number = played.result.drawn_number;
  const auto winner = game::winner_of(played.result.outcome);
  json result = {{"status", winner ? "WIN" : "DRAW"},
                 {"winner_player_id", nullptr},
                 {"drawn_number", number ? json(*number) : json()},
                 {"number_parity", number ? json(std::string(*rules.kind_of(*number))) : json()},
                 {"choices", json::object()},
                 {"reason", played.reason}};
  if (winner)
    result["winner_player_id"] = truth.players.at(places_of(truth).at(game::index(*winner)));
  json fields = {{"reason", played.reason},
                 {"draw_proof", core::to_hex(truth.seed)},
                 {"draw_version", game::draw_version(bindings_of(truth))},
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

json score_of(const GameTruth& truth) {
  const auto points =
      tested_game()->payoffs(choices_of(truth), result_of(truth).result.drawn_number);
  json score;
  for (Side side : game::kBothSides)
    score[truth.players.at(places_of(truth).at(game::index(side)))] = points[side];
  return score;
}

int false_number(const json& drawn_number) {
  if (!drawn_number.is_number()) return 1;
  const int number = drawn_number.get<int>();
  return number > 2 ? number - 2 : number + 2;
}

}  // namespace league::tools::check
