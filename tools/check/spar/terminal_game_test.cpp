#include "tools/check/spar/terminal_game.h"

#include <gtest/gtest.h>

#include <regex>
#include <sstream>

#include "game/draw.h"
#include "game/games.h"

namespace league::tools::check {
namespace {

std::string played(const std::string& typed, TerminalGame::Options options) {
  std::istringstream in(typed);
  std::ostringstream out;
  auto game = TerminalGame::create(std::move(options), in, out);
  if (!game) return game.error().message;
  (*game)->run();
  return out.str();
}

TEST(TerminalGame, CountsTheMatchesThatWerePlayed) {
  const std::string text = played("e\no\neven\n", {.strategy = "even", .matches = 3, .seed = 7});
  EXPECT_NE(text.find("Match 3 of 3"), std::string::npos) << text;
  EXPECT_NE(text.find("you odd, even even, the number is "), std::string::npos) << text;
  // Two equal choices are a draw, and two different ones are not.
  EXPECT_NE(text.find("3 matches: "), std::string::npos) << text;
  EXPECT_NE(text.find(" 2 drawn"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

TEST(TerminalGame, CanBeRepeated) {
  EXPECT_EQ(played("e\no\n", {.matches = 2, .seed = 1}),
            played("e\no\n", {.matches = 2, .seed = 1}));
  EXPECT_NE(played("e\n", {.matches = 1}), played("e\n", {.matches = 1}));
}

TEST(TerminalGame, ShowsAProofThatRecomputesTheNumber) {
  const std::string text = played("o\n", {.strategy = "even", .matches = 1});
  std::smatch proof;
  ASSERT_TRUE(std::regex_search(
      text, proof,
      std::regex("verify_draw.py ([0-9a-f]{64}) ([0-9a-f]{64}) (R1M1) (odd) (even) ([0-9]+) "
                 "([0-9a-f]{64}) ([0-9a-f]{64})\n")))
      << text;
  const auto seed = game::parse_seed(proof[2].str());
  ASSERT_TRUE(seed);
  EXPECT_EQ(game::draw_commitment(*seed, "R1M1"), proof[1]);
  const auto& rules = *game::even_odd();
  const game::Choices choices{{proof[4], proof[5]}};
  const game::Bindings bindings{.commitments = {{proof[7], proof[8]}},
                                .nonces = {{proof[7], proof[8]}}};
  EXPECT_EQ(std::to_string(game::draw_number(
                {.seed = *seed, .match_id = "R1M1", .choices = choices, .bindings = bindings},
                *rules.numbers())),
            proof[6]);
  // What was sealed before the choice is what is opened after it.
  EXPECT_LT(text.find("sealed: the draw " + proof[1].str().substr(0, 12)), text.find("[e]ven"));
}

TEST(TerminalGame, EndsPolitelyAndAsksAgain) {
  EXPECT_NE(played("", {}).find("No match was played."), std::string::npos);
  const std::string text = played("hm\n\nE\nq\n", {});
  EXPECT_NE(text.find("1 match: "), std::string::npos) << text;
  EXPECT_NE(text.find("Type the letters in brackets"), std::string::npos) << text;
  EXPECT_NE(played("", {.strategy = "clever"}).find("\"clever\" is unknown"), std::string::npos);
}

TEST(TerminalGame, ColoursOnRequest) {
  EXPECT_NE(played("e\n", {.matches = 1, .is_coloured = true}).find("\x1b[1m"), std::string::npos);
}

TEST(TerminalGame, PlaysAnyGame) {
  const auto game = *game::Games::standard().find("prisoners_dilemma");
  const std::string text =
      played("d\nd\n", {.game = game, .strategy = "tit_for_tat", .matches = 2});
  EXPECT_NE(text.find("you defect, tit_for_tat cooperate: you win, 5 to 0 points"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("you defect, tit_for_tat defect: a draw, 6 to 1 points"), std::string::npos);
}

}  // namespace
}  // namespace league::tools::check
