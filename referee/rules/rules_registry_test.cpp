#include "referee/rules/rules_registry.h"

#include <gtest/gtest.h>

namespace league::referee::rules {
namespace {

TEST(RulesRegistry, FindsEveryGameThatItNames) {
  ASSERT_FALSE(known_game_types().empty());
  for (const std::string& name : known_game_types()) {
    const auto rules = find_rules(name);
    ASSERT_TRUE(rules) << name;
    EXPECT_EQ((*rules)->game_type(), name);
    EXPECT_EQ((*rules)->init_game_state().game_type, name);
  }
}

TEST(RulesRegistry, AnUnknownGameIsAnErrorThatNamesTheKnownOnes) {
  const auto rules = find_rules("chess");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().code, core::ErrorCode::kGameTypeNotSupported);
  EXPECT_EQ(rules.error().field, "/game_type");
  EXPECT_NE(rules.error().message.find("chess"), std::string::npos);
  EXPECT_NE(rules.error().message.find("even_odd"), std::string::npos);
}

}  // namespace
}  // namespace league::referee::rules
