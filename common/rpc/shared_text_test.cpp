#include "common/rpc/shared_text.h"

#include <gtest/gtest.h>

namespace league::rpc {
namespace {

constexpr const char* kLong = "a text that is longer than what a string keeps in itself";

TEST(SharedText, CopiesShareTheBytes) {
  SharedText text{std::string(kLong)};
  SharedText copy = text;
  EXPECT_EQ(copy.view().data(), text.view().data());
  EXPECT_EQ(copy.str(), kLong);
}

TEST(SharedText, LiteralIsNotCopied) { EXPECT_EQ(SharedText::literal(kLong).view().data(), kLong); }

TEST(SharedText, ComparesByContent) {
  EXPECT_EQ(SharedText(std::string("a")), SharedText::literal("a"));
  EXPECT_NE(SharedText::literal("a"), SharedText::literal("b"));
  EXPECT_LT(SharedText::literal("a"), SharedText::literal("b"));
  EXPECT_EQ(SharedText(std::string()), SharedText());
  EXPECT_TRUE(SharedText().empty());
}

TEST(SharedText, OutlivesTheFirstOwnerAndLeavesNothingBehindWhenMoved) {
  SharedText copy;
  {
    SharedText text{std::string(kLong)};
    copy = text;
    SharedText moved = std::move(text);
    EXPECT_TRUE(text.view().empty());  // NOLINT(bugprone-use-after-move): the point of the test
  }
  EXPECT_EQ(copy.view(), kLong);
}

}  // namespace
}  // namespace league::rpc
