#include "tools/audit/inspect/probability.h"

#include <gtest/gtest.h>

namespace league::tools::auditor {
namespace {

TEST(Probability, ChiSquaredAsInTheTables) {
  EXPECT_NEAR(chi_squared_tail(3.841459, 1), 0.05, 1e-6);
  EXPECT_NEAR(chi_squared_tail(21.66599, 9), 0.01, 1e-6);
  EXPECT_NEAR(chi_squared_tail(2.0, 2), 0.36787944, 1e-8);
  EXPECT_NEAR(chi_squared_critical(0.01, 4), 13.2767, 1e-3);
  EXPECT_EQ(chi_squared_tail(0, 3), 1);
}

TEST(Probability, NoncentralChiSquaredAsInTheTables) {
  EXPECT_NEAR(chi_squared_tail(21.66599, 9, 10), 0.325543, 1e-5);
  EXPECT_NEAR(chi_squared_tail(3.841459, 1, 7.849), 0.80, 0.001);
  EXPECT_NEAR(chi_squared_tail(3.841459, 1, 1e-9), 0.05, 1e-6);
  EXPECT_NEAR(chi_squared_tail(100, 9, 1000), 1, 1e-6);
}

TEST(Probability, BinomialIsExact) {
  EXPECT_NEAR(binomial_two_sided(0, 5, 0.5), 2.0 / 32, 1e-12);
  EXPECT_NEAR(binomial_two_sided(9, 10, 0.5), 2 * 11.0 / 1024, 1e-12);
  EXPECT_EQ(binomial_two_sided(5, 10, 0.5), 1);
  EXPECT_NEAR(binomial_two_sided(10, 10, 1.0), 1, 1e-12);
  EXPECT_EQ(binomial_two_sided(9, 10, 1.0), 0);
  EXPECT_NEAR(binomial_two_sided(52'000, 100'000, 0.5), 1.2e-36, 1e-36);
  EXPECT_EQ(binomial_two_sided(0, 0, 0.5), 1);
}

TEST(Probability, PowerIsTheChanceOfTheRegionOfRejection) {
  // 10 matches at 5 %: rejected are 0, 1, 9 and 10.
  EXPECT_NEAR(binomial_power(10, 0.5, 0.5, 0.05), 22.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_power(10, 0.5, 1.0, 0.05), 1, 1e-12);
  EXPECT_EQ(binomial_power(3, 0.5, 1.0, 0.05), 0) << "no outcome of three matches is rare enough";
  EXPECT_GT(binomial_power(1000, 0.5, 0.6, 0.002), 0.99);
}

}  // namespace
}  // namespace league::tools::auditor
