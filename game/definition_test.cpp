#include "game/definition.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "game/games.h"
#include "game/result.h"

namespace league::game {
namespace {

using nlohmann::json;

const Definition& game(const char* name) { return **Games::standard().find(name); }

PerSide<int> points(const char* name, const char* a, const char* b) {
  return game(name).payoffs({{a, b}}, std::nullopt);
}

Outcome outcome(const char* name, const char* a, const char* b) {
  return game(name).decide({{a, b}}, std::nullopt).outcome;
}

json file_of(const char* name) { return game(name).to_json(); }

/// What `Definition::read` says of a mistake: the place and the rule.
std::string mistake(const json& file) {
  const auto read = Definition::read(file);
  if (read) return "no mistake";
  EXPECT_EQ(read.error().code, core::ErrorCode::kInvalidFieldValue);
  EXPECT_TRUE(read.error().message.find(read.error().field) != std::string::npos);
  return read.error().message;
}

TEST(EvenOdd, DrawsFromOneToTenAndTheKindIsTheParity) {
  const auto range = even_odd()->numbers();
  ASSERT_TRUE(range);
  EXPECT_EQ(range->lowest, 1);
  EXPECT_EQ(range->highest, 10);
  for (int number = 1; number <= 10; ++number)
    EXPECT_EQ(even_odd()->kind_of(number), number % 2 == 0 ? "even" : "odd") << number;
  EXPECT_EQ(even_odd()->kind_of(0), std::nullopt);
  EXPECT_EQ(even_odd()->kind_of(11), std::nullopt);
}

TEST(EvenOdd, OnlyTheTwoExactWordsAreChoices) {
  EXPECT_TRUE(even_odd()->check_choice("even"));
  EXPECT_TRUE(even_odd()->check_choice("odd"));
  for (const char* bad :
       {"Even", "ODD", "e", "", "0", "true", "null", " even", "even ", "evenodd", "heads"}) {
    const auto choice = even_odd()->check_choice(bad);
    ASSERT_FALSE(choice) << bad;
    EXPECT_EQ(choice.error().code, core::ErrorCode::kInvalidParityChoice);
    EXPECT_EQ(choice.error().field, "/parity_choice");
    EXPECT_NE(choice.error().message.find("\"even\" or \"odd\""), std::string::npos);
  }
}

TEST(Definition, KnowsWhatPeopleType) {
  EXPECT_EQ(even_odd()->choice_like("O"), "odd");
  EXPECT_EQ(even_odd()->choice_like("Even"), "even");
  for (const char* none : {"", "evens", "x"})
    EXPECT_EQ(even_odd()->choice_like(none), std::nullopt);
  const auto file = json::parse(R"({"game_type": "letters", "choices": ["Ab", "ab", "ABC", "D"],
      "payoffs": {"Ab": {"Ab": 1, "ab": 1, "ABC": 1, "D": 1}, "ab": {"Ab": 1, "ab": 1, "ABC": 1, "D": 1},
                  "ABC": {"Ab": 1, "ab": 1, "ABC": 1, "D": 1}, "D": {"Ab": 1, "ab": 1, "ABC": 1, "D": 1}},
      "technical": {"winner": 1, "loser": 0, "both": 0}})");
  const auto letters = Definition::read(file);
  ASSERT_TRUE(letters) << letters.error().message;
  EXPECT_EQ(letters->choice_like("ab"), "ab") << "the exact word first";
  EXPECT_EQ(letters->choice_like("abc"), "ABC");
  EXPECT_EQ(letters->choice_like("d"), "D");
  EXPECT_EQ(letters->choice_like("a"), std::nullopt) << "three begin so";
}

TEST(EvenOdd, ARefusalShowsAStrangersTextShortAndPrintable) {
  const auto choice = even_odd()->check_choice("\x1b[2J\n" + std::string(100'000, 'x'));
  ASSERT_FALSE(choice);
  EXPECT_LT(choice.error().message.size(), 200U);
  EXPECT_EQ(choice.error().message.find('\x1b'), std::string::npos);
}

TEST(EvenOdd, TheOneWhoIsRightAloneWins) {
  const Definition& rules = *even_odd();
  for (int number = 1; number <= 10; ++number) {
    const bool is_even = number % 2 == 0;
    EXPECT_EQ(rules.decide({{"even", "odd"}}, number).outcome,
              is_even ? Outcome::kPlayerAWins : Outcome::kPlayerBWins)
        << number;
    EXPECT_EQ(rules.decide({{"odd", "even"}}, number).outcome,
              is_even ? Outcome::kPlayerBWins : Outcome::kPlayerAWins);
    EXPECT_EQ(rules.payoffs({{"even", "even"}}, number), (PerSide<int>{{1, 1}}));
    EXPECT_EQ(rules.payoffs({{"odd", "odd"}}, number), (PerSide<int>{{1, 1}}));
    EXPECT_EQ(rules.payoffs({{"odd", "even"}}, number),
              is_even ? (PerSide<int>{{0, 3}}) : (PerSide<int>{{3, 0}}));
  }
  EXPECT_EQ(rules.technical_points(Outcome::kPlayerBWins), (PerSide<int>{{0, 3}}));
  EXPECT_EQ(rules.technical_points(Outcome::kNoWinner), (PerSide<int>{{0, 0}}));
}

TEST(EvenOdd, TheReasonSaysWhatHappened) {
  const Definition& rules = *even_odd();
  EXPECT_EQ(rules.decide({{"even", "odd"}}, 8).reason,
            "The number is 8, which is even: only player A is right.");
  EXPECT_EQ(rules.decide({{"odd", "even"}}, 8).reason,
            "The number is 8, which is even: only player B is right.");
  EXPECT_EQ(rules.decide({{"odd", "odd"}}, 7).reason,
            "The number is 7, which is odd: both players are right.");
  EXPECT_EQ(rules.decide({{"odd", "odd"}}, 2).reason,
            "The number is 2, which is even: both players are wrong.");
}

TEST(MatchingPennies, AWinsByEqualWordsAndBByDifferentOnes) {
  EXPECT_TRUE(game("matching_pennies").has_roles());
  EXPECT_FALSE(game("matching_pennies").numbers());
  for (const char* a : {"heads", "tails"}) {
    for (const char* b : {"heads", "tails"}) {
      EXPECT_EQ(outcome("matching_pennies", a, b),
                std::string_view(a) == b ? Outcome::kPlayerAWins : Outcome::kPlayerBWins);
    }
  }
}

TEST(RockPaperScissors, EachWordBeatsOneAndLosesToOne) {
  EXPECT_EQ(points("rock_paper_scissors", "rock", "scissors"), (PerSide<int>{{3, 0}}));
  EXPECT_EQ(points("rock_paper_scissors", "paper", "rock"), (PerSide<int>{{3, 0}}));
  EXPECT_EQ(points("rock_paper_scissors", "scissors", "paper"), (PerSide<int>{{3, 0}}));
  EXPECT_EQ(points("rock_paper_scissors", "paper", "scissors"), (PerSide<int>{{0, 3}}));
  EXPECT_EQ(outcome("rock_paper_scissors", "rock", "rock"), Outcome::kDraw);
  EXPECT_EQ(game("rock_paper_scissors").decide({{"rock", "paper"}}, std::nullopt).reason,
            "rock against paper gives 0 and 3 points: player B wins.");
}

TEST(PrisonersDilemma, HasThePayoffsOfTheLiterature) {
  EXPECT_EQ(points("prisoners_dilemma", "cooperate", "cooperate"), (PerSide<int>{{3, 3}}));
  EXPECT_EQ(points("prisoners_dilemma", "defect", "cooperate"), (PerSide<int>{{5, 0}}));
  EXPECT_EQ(points("prisoners_dilemma", "cooperate", "defect"), (PerSide<int>{{0, 5}}));
  EXPECT_EQ(points("prisoners_dilemma", "defect", "defect"), (PerSide<int>{{1, 1}}));
  EXPECT_EQ(outcome("prisoners_dilemma", "cooperate", "cooperate"), Outcome::kDraw);
  EXPECT_EQ(outcome("prisoners_dilemma", "defect", "cooperate"), Outcome::kPlayerAWins);
  EXPECT_EQ(game("prisoners_dilemma").highest_payoff(), 5);
}

TEST(Definition, IsReadBackAsItWasWritten) {
  for (const std::string& name : Games::standard().names()) {
    const Definition& one = game(name.c_str());
    const auto read = Definition::read(json::parse(one.to_json().dump()));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, one);
  }
}

TEST(Definition, RolesWithTheSamePayoffsAreNoRoles) {
  json file = file_of("rock_paper_scissors");
  file["roles"] = {{"PLAYER_A", file["payoffs"]}, {"PLAYER_B", file["payoffs"]}};
  file.erase("payoffs");
  const auto read = Definition::read(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, game("rock_paper_scissors"));
  EXPECT_TRUE(read->to_json().contains("payoffs"));
}

TEST(Definition, TheExpectedPayoffIsTheAverageOverTheNumbers) {
  EXPECT_DOUBLE_EQ(even_odd()->expected_payoff(Side::kA, 0, 1), 1.5);
  EXPECT_DOUBLE_EQ(even_odd()->expected_payoff(Side::kA, 0, 0), 1);
  EXPECT_DOUBLE_EQ(game("prisoners_dilemma").expected_payoff(Side::kB, 1, 0), 5);
}

/// In a game with a number, being right need not win.
TEST(Definition, TheReasonOfAGameWithANumberNamesPointsThatDoNotFollowFromBeingRight) {
  json file = file_of("even_odd");
  file["payoffs"]["even"]["even"]["odd"] = 0;
  file["payoffs"]["even"]["odd"]["even"] = 2;
  const auto read = Definition::read(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->decide({{"even", "odd"}}, 4).outcome, Outcome::kPlayerBWins);
  EXPECT_EQ(read->decide({{"even", "odd"}}, 4).reason,
            "The number is 4, which is even: only player A is right. even against odd gives 0 and "
            "2 points: player B wins.");
}

TEST(Definition, AMistakeIsNamedWithItsPlaceAndItsRule) {
  json file = file_of("rock_paper_scissors");
  file["payoffs"]["rock"].erase("paper");
  EXPECT_EQ(mistake(file), "/payoffs/rock/paper: is missing");
  file = file_of("rock_paper_scissors");
  file["payoffs"]["rock"]["lizard"] = 3;
  EXPECT_EQ(mistake(file), "/payoffs/rock/lizard: is none of the choices rock, paper, scissors");
  for (const json& bad : {json("3"), json(-1), json(101), json(1.5), json(nullptr), json(true),
                          json(1e300), json(18446744073709551615U)}) {
    file = file_of("rock_paper_scissors");
    file["payoffs"]["rock"]["paper"] = bad;
    EXPECT_EQ(mistake(file), "/payoffs/rock/paper: must be a whole number from 0 to 100") << bad;
  }
  file = file_of("matching_pennies");
  file["roles"].erase("PLAYER_B");
  EXPECT_EQ(mistake(file), "/roles/PLAYER_B: is missing");
  file = file_of("matching_pennies");
  file["roles"]["PLAYER_B"]["heads"] = 3;
  EXPECT_EQ(mistake(file), "/roles/PLAYER_B/heads: must be an object of choices: heads, tails");
  file = file_of("even_odd");
  file["drawn"][3] = "prime";
  EXPECT_EQ(mistake(file), "/drawn/3: must be one of the choices even, odd");
  file["drawn"] = 10;
  EXPECT_EQ(mistake(file),
            "/drawn: must be a list of 2 to 100 words: the kinds of the numbers 1, 2, ...");
  file = file_of("even_odd");
  file["technical"]["winner"] = 0;
  EXPECT_EQ(mistake(file), "/technical/winner: must be higher than loser");
}

TEST(Definition, TheFormOfAGameIsChecked) {
  EXPECT_EQ(mistake(json::array()), "/: a game is a JSON object");
  json file = file_of("even_odd");
  file["player_count"] = 2;
  EXPECT_EQ(mistake(file),
            "/player_count: is no field of a game: game_type, choices, drawn, "
            "payoffs, roles, technical");
  file = file_of("even_odd");
  file.erase("technical");
  EXPECT_EQ(mistake(file), "/technical: is missing");
  file = file_of("even_odd");
  file["roles"] = file["payoffs"];
  EXPECT_EQ(mistake(file), "/payoffs: a game has either payoffs, or roles where they differ");
  file = file_of("even_odd");
  file["game_type"] = "Even/Odd";
  EXPECT_EQ(mistake(file), "/game_type: must be a name of 1 to 40 characters of [a-z0-9_]");
  for (const char* bad : {"", "a|b", "a b", "\xC3\xA9", "abcdefghijklmnopqrstuvwxyz0123456"}) {
    file = file_of("even_odd");
    file["choices"][1] = bad;
    EXPECT_EQ(mistake(file), "/choices/1: must be a word of 1 to 32 characters of [A-Za-z0-9_-]");
  }
  file["choices"] = {"even", "even"};
  EXPECT_EQ(mistake(file), "/choices/1: is there twice");
  file["choices"] = json::array();
  for (int i = 0; i < 16; ++i) file["choices"].push_back("w" + std::to_string(i));
  EXPECT_EQ(mistake(file), "/choices: must be a list of 2 to 15 words");
}

TEST(PointsOf, AreThePayoffsOrThoseOfATechnicalLoss) {
  MatchResult played;
  played.outcome = Outcome::kDraw;
  played.choices = {{"cooperate", "cooperate"}};
  EXPECT_EQ(points_of(game("prisoners_dilemma"), played), (PerSide<int>{{3, 3}}));
  EXPECT_EQ(points_of(game("prisoners_dilemma"), technical_result(Side::kB, "TIMEOUT_JOIN")),
            (PerSide<int>{{0, 5}}));
  played.choices = {{"defect", "defect"}};
  EXPECT_EQ(points_of(game("prisoners_dilemma"), played), (PerSide<int>{{1, 1}}));
  played.choices[Side::kA].reset();
  EXPECT_EQ(points_of(game("prisoners_dilemma"), played), (PerSide<int>{{3, 3}}));
  EXPECT_EQ(points_of(*even_odd(), played), (PerSide<int>{{1, 1}}));
  played.outcome = Outcome::kPlayerAWins;
  played.drawn_number = 99;
  played.choices = {{"even", "odd"}};
  EXPECT_EQ(points_of(*even_odd(), played), (PerSide<int>{{3, 0}}));
}

}  // namespace
}  // namespace league::game
