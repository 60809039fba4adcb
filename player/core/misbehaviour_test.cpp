#include "player/core/misbehaviour.h"

#include <gtest/gtest.h>

namespace league::player {
namespace {

using std::chrono::milliseconds;

Misbehaviour parsed(std::string_view text) {
  const auto result = parse_misbehaviour(text);
  EXPECT_TRUE(result && result->has_value()) << text;
  return result && *result ? **result : Misbehaviour{};
}

TEST(Misbehaviour, EachNameIsItsKind) {
  EXPECT_EQ(parsed("slow:250"), (Misbehaviour{MisbehaviourKind::kSlow, milliseconds(250)}));
  EXPECT_EQ(parsed("silent").kind, MisbehaviourKind::kSilent);
  EXPECT_EQ(parsed("crash").kind, MisbehaviourKind::kCrash);
  EXPECT_EQ(parsed("garbage").kind, MisbehaviourKind::kGarbage);
  EXPECT_EQ(parsed("invalid").kind, MisbehaviourKind::kInvalid);
  EXPECT_EQ(parsed("wrong-match").kind, MisbehaviourKind::kWrongMatch);
  EXPECT_EQ(parsed("no-token").kind, MisbehaviourKind::kNoToken);
  EXPECT_EQ(parsed("huge").kind, MisbehaviourKind::kHuge);
  EXPECT_EQ(parsed("bad-commitment").kind, MisbehaviourKind::kBadCommitment);
  EXPECT_EQ(parsed("bad-nonce").kind, MisbehaviourKind::kBadNonce);
  EXPECT_EQ(parsed("no-nonce").kind, MisbehaviourKind::kNoNonce);
  EXPECT_EQ(parsed("other-choice").kind, MisbehaviourKind::kOtherChoice);
  EXPECT_EQ(known_misbehaviours().size(), 12U);
}

TEST(Misbehaviour, AStrategyIsNone) {
  for (const char* text : {"even", "opposite", "", "slowly", "Silent"}) {
    const auto result = parse_misbehaviour(text);
    ASSERT_TRUE(result) << text;
    EXPECT_FALSE(result->has_value()) << text;
  }
}

TEST(Misbehaviour, ABadNumberIsAnErrorThatSaysHowToWriteIt) {
  for (const char* text :
       {"slow", "slow:", "slow:abc", "slow:-1", "slow:1s", "slow:3600001", "slow:99999999999999"}) {
    const auto result = parse_misbehaviour(text);
    ASSERT_FALSE(result) << text;
    EXPECT_NE(result.error().message.find("slow:MS"), std::string::npos);
  }
  EXPECT_FALSE(parse_misbehaviour("silent:5"));
}

}  // namespace
}  // namespace league::player
