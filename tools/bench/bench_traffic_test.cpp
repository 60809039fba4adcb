#include "tools/bench/bench_traffic.h"

#include <gtest/gtest.h>

namespace league::tools::bench {
namespace {

TEST(BenchTraffic, APercentileIsOneOfTheValues) {
  EXPECT_EQ(percentile({}, 0.5), 0);
  EXPECT_EQ(percentile({7}, 0.99), 7);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.5), 2);
  EXPECT_EQ(percentile({4, 1, 3, 2}, 0.99), 4);
}

}  // namespace
}  // namespace league::tools::bench
