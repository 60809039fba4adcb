#include "tools/check/game_truth.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "game/games.h"
#include "game/judge.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

GameTruth truth_of(bool is_first_a) {
  GameTruth truth;
  truth.match_id = "R1M1";
  truth.players = {"P01", "P02"};
  truth.choices = {"even", "odd"};
  truth.seed.fill(7);
  truth.is_first_a = is_first_a;
  return truth;
}

/// What the rules of the game say of these fields.
std::size_t contradictions(const GameTruth& truth, const json& fields) {
  const json& result = fields["game_result"];
  game::MatchFacts facts{.match_id = truth.match_id,
                         .players = {},
                         .draw_commitment = game::draw_commitment(truth.seed, truth.match_id)};
  const std::size_t a = truth.is_first_a ? 0 : 1;
  facts.players[game::Side::kA] = truth.players.at(a);
  facts.players[game::Side::kB] = truth.players.at(1 - a);
  game::Claim claim;
  if (result["winner_player_id"].is_string()) claim.winner = result["winner_player_id"];
  claim.drawn_number = result["drawn_number"].get<int>();
  claim.number_kind = result["number_parity"].get<std::string>();
  for (const auto& id : truth.players)
    claim.choices.emplace_back(id, result["choices"][id].get<std::string>());
  claim.draw_version = fields["draw_version"].get<int>();
  claim.seed = fields["draw_proof"].get<std::string>();
  return game::judge(*game::even_odd(), facts, claim).contradictions.size();
}

TEST(GameTruth, IsWhatTheRulesOfTheGameSay) {
  for (bool is_first_a : {true, false}) {
    const GameTruth truth = truth_of(is_first_a);
    EXPECT_EQ(contradictions(truth, game_over_fields(truth)), 0U);
  }
}

TEST(GameTruth, AnotherNumberContradictsTheRules) {
  const GameTruth truth = truth_of(true);
  json fields = game_over_fields(truth);
  const int number = fields["game_result"]["drawn_number"].get<int>();
  fields["game_result"]["drawn_number"] = number > 2 ? number - 2 : number + 2;
  EXPECT_GT(contradictions(truth, fields), 0U);
}

}  // namespace
}  // namespace league::tools::check
