#include "tools/check/spar/spar.h"

#include <gtest/gtest.h>

namespace league::tools::check {
namespace {

TEST(WilsonInterval, IsTheOneOfTheTextbook) {
  const auto [low, high] = wilson_interval(50, 100);
  EXPECT_NEAR(low, 0.4038, 0.0005);
  EXPECT_NEAR(high, 0.5962, 0.0005);
}

TEST(WilsonInterval, StaysBetweenNothingAndEverything) {
  EXPECT_EQ(wilson_interval(0, 0), (std::pair<double, double>{0.0, 1.0}));
  const auto [low, high] = wilson_interval(10, 10);
  EXPECT_GT(low, 0.7);
  EXPECT_LE(high, 1.0);
}

}  // namespace
}  // namespace league::tools::check
