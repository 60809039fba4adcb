#include "common/core/text.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(LowerCaseTest, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("HTTP://Example.ORG/@[`{"), "http://example.org/@[`{");
  EXPECT_EQ(lower_case("\xC3\x84"), "\xC3\x84");
  EXPECT_EQ(lower_case(""), "");
}

}  // namespace
}  // namespace league::core
