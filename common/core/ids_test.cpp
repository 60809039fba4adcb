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

TEST(Ids, SortAsPeopleCount) {
  std::vector<std::string> ids = {"P100", "P99", "Q1",   "P2",
                                  "P02",  "P",   "P010", "P99999999999999999999999"};
  std::ranges::sort(ids, natural_less);
  EXPECT_EQ(ids, (std::vector<std::string>{"P", "P02", "P2", "P010", "P99", "P100",
                                           "P99999999999999999999999", "Q1"}));
}

TEST(Ids, NaturalOrderIsAStrictOrder) {
  EXPECT_TRUE(rc::check("exactly one of less, greater, equal", [] {
    auto id = rc::gen::container<std::string>(rc::gen::element('P', 'R', '0', '1', '9'));
    auto a = *id;
    auto b = *id;
    auto c = *id;
    RC_ASSERT(static_cast<int>(natural_less(a, b)) + static_cast<int>(natural_less(b, a)) +
                  static_cast<int>(a == b) ==
              1);
    if (natural_less(a, b) && natural_less(b, c)) RC_ASSERT(natural_less(a, c));
  }));
}

TEST(Ids, NumberedIdsSortByNumber) {
  EXPECT_TRUE(rc::check("by number", [] {
    int a = *rc::gen::inRange(1, 100000);
    int b = *rc::gen::inRange(1, 100000);
    RC_ASSERT(natural_less(numbered_id("P", a), numbered_id("P", b)) == (a < b));
  }));
}

}  // namespace
}  // namespace league::core
