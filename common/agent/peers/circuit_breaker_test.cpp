#include "common/agent/peers/circuit_breaker.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::agent::peers {
namespace {

using std::chrono::seconds;

class CircuitBreakerTest : public ::testing::Test {
 protected:
  void fail(int times) {
    for (int i = 0; i < times; ++i) breaker_.on_failure("P01");
  }
  testing::FakeTime time_;
  CircuitBreaker breaker_{time_, {.failures = 5, .open = seconds(60)}};
};

TEST_F(CircuitBreakerTest, OpensAfterFiveFailuresInARow) {
  fail(4);
  EXPECT_TRUE(breaker_.allow("P01"));
  fail(1);
  EXPECT_FALSE(breaker_.allow("P01"));
  EXPECT_TRUE(breaker_.allow("P02"));
}

TEST_F(CircuitBreakerTest, ASuccessInBetweenStartsTheCountAnew) {
  fail(4);
  breaker_.on_success("P01");
  fail(4);
  EXPECT_TRUE(breaker_.allow("P01"));
}

TEST_F(CircuitBreakerTest, LetsOneTrialThroughAfterAMinute) {
  fail(5);
  time_.advance(seconds(59));
  EXPECT_FALSE(breaker_.allow("P01"));
  time_.advance(seconds(1));
  EXPECT_TRUE(breaker_.allow("P01"));
  EXPECT_FALSE(breaker_.allow("P01")) << "a second call must wait for the trial's end";
}

TEST_F(CircuitBreakerTest, TheTrialDecides) {
  fail(5);
  time_.advance(seconds(60));
  ASSERT_TRUE(breaker_.allow("P01"));
  breaker_.on_failure("P01");
  EXPECT_FALSE(breaker_.allow("P01"));
  time_.advance(seconds(60));
  ASSERT_TRUE(breaker_.allow("P01"));
  breaker_.on_success("P01");
  EXPECT_TRUE(breaker_.allow("P01"));
  EXPECT_TRUE(breaker_.allow("P01"));
}

}  // namespace
}  // namespace league::agent::peers
