#include "tools/check/game_truth.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "game/games.h"
#include "game/judge.h"

namespace league::tools::check {
namespace {

using nlohmann::json;

class GameTruthOf : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_TRUE(set_tested_game(GetParam())); }
  void TearDown() override { ASSERT_TRUE(set_tested_game("even_odd")); }
};

GameTruth truth_of(bool is_first_a) {
  GameTruth truth;
  truth.match_id = "R1M1";
  truth.players = {"P01", "P02"};
  truth.choices = {game_word(0), game_word(1)};
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
  if (result["drawn_number"].is_number()) claim.drawn_number = result["drawn_number"].get<int>();
  if (result["number_parity"].is_string()) claim.number_kind = result["number_parity"];
  claim.score.emplace();
  const json score = score_of(truth);
  for (const auto& [id, points] : score.items()) claim.score->emplace_back(id, points);
  for (const auto& id : truth.players)
    claim.choices.emplace_back(id, result["choices"][id].get<std::string>());
  claim.draw_version = fields["draw_version"].get<int>();
  claim.seed = fields["draw_proof"].get<std::string>();
  return game::judge(*tested_game(), facts, claim).contradictions.size();
}

TEST_P(GameTruthOf, IsWhatTheRulesOfTheGameSay) {
  for (bool is_first_a : {true, false}) {
    const GameTruth truth = truth_of(is_first_a);
    EXPECT_EQ(contradictions(truth, game_over_fields(truth)), 0U);
  }
}

TEST_P(GameTruthOf, AnotherNumberContradictsTheRules) {
  const GameTruth truth = truth_of(true);
  json fields = game_over_fields(truth);
  json& number = fields["game_result"]["drawn_number"];
  number = false_number(number);
  EXPECT_GT(contradictions(truth, fields), 0U);
}

INSTANTIATE_TEST_SUITE_P(Games, GameTruthOf, ::testing::ValuesIn(game::Games::standard().names()));

}  // namespace
}  // namespace league::tools::check
