#include "tools/league/up/waiting_notice.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/fake_clock.h"

namespace league::tools {
namespace {

using namespace std::chrono_literals;

class WaitingNoticeTest : public ::testing::Test {
 protected:
  void note(const std::string& missing) { notice_.note(missing, "all is there"); }

  league::testing::FakeTime time_;
  std::vector<std::string> said_;
  WaitingNotice notice_{time_, 2s, [this](const std::string& text) { said_.push_back(text); }};
};

TEST_F(WaitingNoticeTest, WhatIsQuickIsNotWorthAWord) {
  note("the broker");
  time_.advance(1999ms);
  note("the manager");
  note("");
  time_.advance(10s);
  note("");
  EXPECT_TRUE(said_.empty());
}

TEST_F(WaitingNoticeTest, IsSaidOnceAndAgainWhenItChanges) {
  note("the broker");
  time_.advance(2s);
  note("the broker");
  note("the broker");
  time_.advance(1s);
  note("the manager");
  note("");
  EXPECT_EQ(said_, (std::vector<std::string>{"the broker", "the manager", "all is there"}));
}

TEST_F(WaitingNoticeTest, WhatChangesAllTheTimeFloodsNobody) {
  note("0");
  time_.advance(2s);
  for (int i = 0; i < 1000; ++i) {
    note(std::to_string(i));
    time_.advance(10ms);
  }
  EXPECT_EQ(said_.size(), 10U);
}

TEST_F(WaitingNoticeTest, BeginsAnewAfterTheEnd) {
  note("the broker");
  time_.advance(3s);
  note("the broker");
  note("");
  note("the broker");
  EXPECT_EQ(said_.size(), 2U);
  time_.advance(2s);
  note("the broker");
  EXPECT_EQ(said_.size(), 3U);
}

}  // namespace
}  // namespace league::tools
