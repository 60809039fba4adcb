#include "game/games.h"

#include <gtest/gtest.h>

#include <set>

namespace league::game {
namespace {

TEST(Games, FindsEveryGameThatItNames) {
  ASSERT_FALSE(Games::standard().names().empty());
  for (const std::string& name : Games::standard().names()) {
    const auto rules = Games::standard().find(name);
    ASSERT_TRUE(rules) << name;
    EXPECT_EQ((*rules)->game_type(), name);
  }
}

TEST(Games, AnUnknownGameIsAnErrorThatNamesTheKnownOnes) {
  const auto rules = Games::standard().find("chess");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, core::ErrorCode::kGameTypeNotSupported);
  EXPECT_EQ(rules.error().field, "/game_type");
  EXPECT_NE(rules.error().message.find("chess"), std::string::npos);
  EXPECT_NE(rules.error().message.find("even_odd"), std::string::npos);
}

TEST(Games, ARefusalIsShortWhateverWasAskedFor) {
  const auto rules = Games::standard().find(std::string(100'000, '\n'));
  ASSERT_FALSE(rules);
  EXPECT_LT(rules.error().message.size(), 200U);
  EXPECT_EQ(rules.error().message.find('\n'), std::string::npos);
}

TEST(Games, CanKnowNone) {
  EXPECT_TRUE(Games().names().empty());
  EXPECT_FALSE(Games().find("even_odd"));
}

/// What journals, commitments and the draw rely on.
TEST(Games, EveryGameKeepsTheContractOfDefinition) {
  for (const std::string& name : Games::standard().names()) {
    const Definition& rules = **Games::standard().find(name);
    const auto words = rules.choices();
    EXPECT_GE(words.size(), 2U) << name;
    EXPECT_LE(words.size(), 15U) << name;
    EXPECT_EQ(std::set(words.begin(), words.end()).size(), words.size()) << name;
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i].find('|'), std::string_view::npos) << words[i];
      EXPECT_EQ(rules.index_of(words[i]), i);
      EXPECT_TRUE(rules.check_choice(words[i]));
    }
    if (const auto range = rules.numbers()) {
      EXPECT_GE(range->size(), 1);
      EXPECT_LE(range->size(), 256);
    }
  }
}

}  // namespace
}  // namespace league::game
