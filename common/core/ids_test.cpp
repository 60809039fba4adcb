#include "common/core/ids.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <type_traits>
#include <unordered_set>
#include <vector>

namespace league::core {
namespace {

TEST(Ids, OfDifferentThingsCannotBeMixedUp) {
  EXPECT_FALSE((std::is_convertible_v<PlayerId, RefereeId>));
  EXPECT_FALSE((std::is_convertible_v<std::string, PlayerId>));
  EXPECT_TRUE(PlayerId().empty());
  std::unordered_set<PlayerId> set{PlayerId("P01"), PlayerId("P01"), PlayerId("P02")};
  EXPECT_EQ(set.size(), 2U);
}

TEST(Ids, NumbersHaveAtLeastTwoDigits) {
  EXPECT_EQ(numbered_id("P", 1), "P01");
  EXPECT_EQ(numbered_id("P", 99), "P99");
  EXPECT_EQ(numbered_id("P", 100), "P100");
  EXPECT_EQ(numbered_id("REF", 7), "REF07");
}

}  // namespace
}  // namespace league::core
