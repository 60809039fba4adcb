#include "game/even_odd/even_odd.h"

#include <gtest/gtest.h>

namespace league::game::even_odd {
namespace {

TEST(EvenOdd, DrawsFromOneToTen) {
  const auto range = EvenOdd().numbers();
  ASSERT_TRUE(range);
  EXPECT_EQ(range->lowest, 1);
  EXPECT_EQ(range->highest, 10);
}

TEST(EvenOdd, ANumberIsOfTheKindThatPlayersName) {
  for (int number = 1; number <= 10; ++number) {
    EXPECT_EQ(EvenOdd().kind_of(number), number % 2 == 0 ? "even" : "odd") << number;
  }
}

TEST(EvenOdd, OnlyTheTwoExactWordsAreChoices) {
  EXPECT_TRUE(EvenOdd().check_choice("even"));
  EXPECT_TRUE(EvenOdd().check_choice("odd"));
  for (const char* bad :
       {"Even", "ODD", "e", "", "0", "true", "null", " even", "even ", "evenodd", "heads"}) {
    const auto choice = EvenOdd().check_choice(bad);
    ASSERT_FALSE(choice) << bad;
    EXPECT_EQ(choice.error().code, core::ErrorCode::kInvalidParityChoice);
    EXPECT_EQ(choice.error().field, "/parity_choice");
    EXPECT_NE(choice.error().message.find("\"even\" or \"odd\""), std::string::npos);
  }
}

TEST(EvenOdd, ARefusalShowsAStrangersTextShortAndPrintable) {
  const auto choice = EvenOdd().check_choice("\x1b[2J\n" + std::string(100'000, 'x'));
  ASSERT_FALSE(choice);
  EXPECT_LT(choice.error().message.size(), 200U);
  EXPECT_EQ(choice.error().message.find('\x1b'), std::string::npos);
}

TEST(EvenOdd, TheOneWhoIsRightAloneWins) {
  const EvenOdd rules;
  for (int number = 1; number <= 10; ++number) {
    const bool is_even = number % 2 == 0;
    EXPECT_EQ(rules.decide({{"even", "odd"}}, number).outcome,
              is_even ? Outcome::kPlayerAWins : Outcome::kPlayerBWins)
        << number;
    EXPECT_EQ(rules.decide({{"odd", "even"}}, number).outcome,
              is_even ? Outcome::kPlayerBWins : Outcome::kPlayerAWins);
    EXPECT_EQ(rules.decide({{"even", "even"}}, number).outcome, Outcome::kDraw);
    EXPECT_EQ(rules.decide({{"odd", "odd"}}, number).outcome, Outcome::kDraw);
  }
}

TEST(EvenOdd, TheReasonSaysWhatHappened) {
  EXPECT_EQ(EvenOdd().decide({{"even", "odd"}}, 8).reason,
            "The number is 8, which is even: only player A is right.");
}

}  // namespace
}  // namespace league::game::even_odd
