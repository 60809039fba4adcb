#include "game/receipt.h"

#include <gtest/gtest.h>

namespace league::game {
namespace {

constexpr std::string_view kKey =
    "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const ReceiptScope kScope{
    .league_key = "aa", .match_id = "R1M2", .attempt = 2, .play = 1, .draw_commitment = "dd"};

TEST(ReceiptTest, TheTextsNameEverythingThatWasAnswered) {
  EXPECT_EQ(join_receipt_text(kScope, true, "cc"), "JOIN|aa|R1M2|2|1|dd|true|cc");
  EXPECT_EQ(join_receipt_text(kScope, false, ""), "JOIN|aa|R1M2|2|1|dd|false|");
  EXPECT_EQ(
      choice_receipt_text(kScope, {.choice = "even", .nonce = "ee", .opponent_commitment = "ff"}),
      "CHOICE|aa|R1M2|2|1|dd|even|ee|ff");
  EXPECT_EQ(choice_receipt_text({}, {}), "CHOICE|||1|0||||");
}

/// Computed with `printf TEXT | openssl dgst -sha256 -hmac KEY`, as an author of a bot would.
TEST(ReceiptTest, IsTheHmacWithTheKeyAsText) {
  const std::string text = join_receipt_text(kScope, true, "cc");
  const std::string receipt = receipt_of(kKey, text);
  EXPECT_EQ(receipt, "082f74bb7db6a3b1489f8e4bfd113db83aa654057f43a3a8f2d1eac6497fcbc2");
  EXPECT_TRUE(is_receipt_of(kKey, text, receipt));
  EXPECT_FALSE(is_receipt_of(kKey, text, receipt.substr(1)));
  EXPECT_FALSE(is_receipt_of(kKey, join_receipt_text(kScope, false, "cc"), receipt));
  EXPECT_FALSE(is_receipt_of("another key", text, receipt));
}

}  // namespace
}  // namespace league::game
