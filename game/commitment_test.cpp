#include "game/commitment.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "game/draw.h"

namespace league::game {
namespace {

const std::string kFirstNonce = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kSecondNonce(64, 'f');

TEST(ChoiceCommitment, IsTheHashOfFivePartsAndAStroke) {
  // Made with Python's hashlib.
  const std::string drawn = draw_commitment(Seed{}, "R1M1");
  EXPECT_EQ(drawn, "0e3ee5137f2a26034711603b5ff8be443fc3a74eaa91aedd39f5c60c7e891833");
  EXPECT_EQ(choice_commitment({.draw_commitment = drawn,
                               .match_id = "R1M1",
                               .player_id = "P01",
                               .choice = "even",
                               .nonce = kFirstNonce}),
            "71cf0ca0afb4ce121e66c23e439f771912f6ce0e4a9dff1537b379f1eb20e754");
  EXPECT_EQ(choice_commitment({.draw_commitment = drawn,
                               .match_id = "R1M1",
                               .player_id = "P02",
                               .choice = "odd",
                               .nonce = kSecondNonce}),
            "1d13ce005bc869e5b17dc8e38346e6b5ab9b17d1adbdb6fcb7782fbdeac9b27a");
}

TEST(ChoiceCommitment, EveryPartMatters) {
  const CommittedChoice base{.draw_commitment = "d",
                             .match_id = "R1M1",
                             .player_id = "P01",
                             .choice = "even",
                             .nonce = kFirstNonce};
  const std::string committed = choice_commitment(base);
  auto draw = base;
  draw.draw_commitment = "";
  auto match = base;
  match.match_id = "R1M2";
  auto player = base;
  player.player_id = "P02";
  auto choice = base;
  choice.choice = "odd";
  auto nonce = base;
  nonce.nonce = kSecondNonce;
  for (const auto& other : {draw, match, player, choice, nonce}) {
    EXPECT_NE(choice_commitment(other), committed);
  }
}

TEST(Hex256, IsSixtyFourLowerCaseDigits) {
  EXPECT_TRUE(is_hex_256(kFirstNonce));
  EXPECT_TRUE(is_hex_256(kSecondNonce));
  EXPECT_FALSE(is_hex_256(""));
  EXPECT_FALSE(is_hex_256(kFirstNonce.substr(1)));
  EXPECT_FALSE(is_hex_256(kFirstNonce + "0"));
  EXPECT_FALSE(is_hex_256(std::string(64, 'F')));
  EXPECT_FALSE(is_hex_256(std::string(64, 'g')));
  EXPECT_FALSE(is_hex_256(std::string(63, '0') + '\n'));
}

TEST(Fairness, CountsTheCommitments) {
  Bindings bindings;
  EXPECT_EQ(fairness_of(bindings), Fairness::kNone);
  bindings.commitments[Side::kB] = "c";
  EXPECT_EQ(fairness_of(bindings), Fairness::kOne);
  bindings.commitments[Side::kA] = "c";
  EXPECT_EQ(fairness_of(bindings), Fairness::kBoth);
}

TEST(Fairness, ANonceAloneBindsNobody) {
  Bindings bindings;
  bindings.nonces[Side::kA] = kFirstNonce;
  EXPECT_EQ(fairness_of(bindings), Fairness::kNone);
  EXPECT_EQ(draw_version(bindings), 1);
}

TEST(Fairness, NamesReadBack) {
  EXPECT_EQ(fairness_name(Fairness::kNone), "none");
  EXPECT_EQ(fairness_name(Fairness::kOne), "one");
  EXPECT_EQ(fairness_name(Fairness::kBoth), "both");
  EXPECT_EQ(fairness_name(Fairness::kHosted), "hosted");
  EXPECT_TRUE(std::ranges::is_sorted(kAllFairness));
  for (Fairness fairness : kAllFairness) {
    EXPECT_EQ(parse_fairness(fairness_name(fairness)), fairness);
  }
  EXPECT_EQ(parse_fairness("BOTH"), std::nullopt);
}

}  // namespace
}  // namespace league::game
