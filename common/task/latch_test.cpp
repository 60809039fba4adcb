#include "common/task/latch.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/support/fake_clock.h"

namespace league::task {
namespace {

using namespace std::chrono_literals;

class LatchTest : public ::testing::Test {
 protected:
  Task<void> wait() {
    co_await latch_.wait();
    said_ += "all;";
  }
  Task<void> wait_a_second() { said_ += co_await latch_.wait_for(time_, 1s) ? "yes;" : "no;"; }

  league::testing::FakeTime time_;
  std::string said_;
  Latch latch_{2};
  Scope scope_{Executor(), [](const std::exception_ptr&) { ADD_FAILURE() << "a task threw"; }};
};

TEST_F(LatchTest, LetsAllGoOnInTheirOrderWhenAllHaveCome) {
  scope_.spawn(wait_a_second());
  scope_.spawn(wait());
  latch_.count_down();
  EXPECT_EQ(said_, "");
  latch_.count_down();
  EXPECT_EQ(said_, "yes;all;");
  EXPECT_EQ(time_.waiting(), 0U);
  latch_.count_down();
  scope_.spawn(wait());
  scope_.spawn(wait_a_second());
  EXPECT_EQ(said_, "yes;all;all;yes;");
}

TEST_F(LatchTest, WhoWaitsForATimeGoesOnWithoutTheOthers) {
  scope_.spawn(wait_a_second());
  scope_.spawn(wait());
  time_.advance(1s);
  EXPECT_EQ(said_, "no;");
  latch_.count_down();
  latch_.count_down();
  EXPECT_EQ(said_, "no;all;");
}

TEST_F(LatchTest, ATaskThatIsCancelledWaitsNoLonger) {
  scope_.spawn(wait());
  scope_.spawn(wait_a_second());
  scope_.stop();
  EXPECT_EQ(time_.waiting(), 0U);
  latch_.count_down();
  latch_.count_down();
  EXPECT_EQ(said_, "");
}

}  // namespace
}  // namespace league::task
