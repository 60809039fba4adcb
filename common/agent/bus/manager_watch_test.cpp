#include "common/agent/bus/manager_watch.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_clock.h"

namespace league::agent::bus {
namespace {

class ManagerWatchTest : public ::testing::Test {
 protected:
  ManagerWatch watch() {
    return {time_, "alpha", "http://localhost:8000/mcp", [this] { return lost_bus_; },
            [this](bool is_warning, const std::string& text) {
              said_.push_back((is_warning ? "! " : "") + text);
            }};
  }

  testing::FakeTime time_;
  std::string lost_bus_;
  std::vector<std::string> said_;
};

TEST_F(ManagerWatchTest, SaysNothingOfAManagerThatAnswers) {
  auto watching = watch();
  watching.ended(true);
  time_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(said_.empty());
}

TEST_F(ManagerWatchTest, SaysNothingWhereNobodyWaitsAnyMore) {
  (void)watch();
  time_.advance(std::chrono::seconds(10));
  EXPECT_TRUE(said_.empty());
}

TEST_F(ManagerWatchTest, SaysWithinThreeSecondsThatItDoesNotAndThenThatItDoes) {
  auto watching = watch();
  time_.advance(std::chrono::milliseconds(2999));
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_TRUE(said_[0].starts_with(
      "! alpha is not registered: the league manager at http://localhost:8000/mcp does not "
      "answer"));
  watching.ended(true);
  watching.ended(true);
  ASSERT_EQ(said_.size(), 2U);
  EXPECT_EQ(said_[1], "the league manager at http://localhost:8000/mcp has answered alpha");
}

TEST_F(ManagerWatchTest, NamesTheBusIfThatCannotBeReached) {
  auto early = watch();
  time_.advance(std::chrono::seconds(3));
  lost_bus_ = "nats://hub:4222";
  auto watching = watch();
  time_.advance(std::chrono::seconds(3));
  ASSERT_EQ(said_.size(), 2U);
  EXPECT_NE(said_[0].find("the league manager at"), std::string::npos) << said_[0];
  EXPECT_EQ(said_[1],
            "! alpha is not registered: the bus at nats://hub:4222 cannot be reached. Still "
            "trying.");
}

TEST_F(ManagerWatchTest, WhoGivesUpHasNoAnswer) {
  auto watching = watch();
  time_.advance(std::chrono::seconds(3));
  watching.ended(false);
  watching.ended(true);
  time_.advance(std::chrono::seconds(10));
  EXPECT_EQ(said_.size(), 1U);
}

}  // namespace
}  // namespace league::agent::bus
