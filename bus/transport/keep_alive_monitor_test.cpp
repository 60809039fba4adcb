#include "bus/transport/bus_discovery.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

class KeepAliveMonitorTest : public ::testing::Test {
 protected:
  void SetUp() override { tasks_.spawn(watch()); }
  /// In steps, as time passes for a process that is not held up.
  void pass(std::chrono::milliseconds time) {
    for (auto passed = 0ms; passed < time; passed += 50ms) time_.advance(50ms);
  }
  task::Task<void> watch() {
    for (;;) {
      co_await switch_.silence(1s);
      ++silences_;
    }
  }

  league::testing::FakeTime time_;
  int silences_ = 0;
  KeepAliveMonitor switch_{time_, time_};
  task::Scope tasks_{task::Executor(), nullptr};
};

TEST_F(KeepAliveMonitorTest, ABeatInTimeKeepsItQuiet) {
  for (int i = 0; i < 20; ++i) {
    pass(1900ms);
    EXPECT_FALSE(switch_.beat());
  }
  EXPECT_EQ(silences_, 0);
}

TEST_F(KeepAliveMonitorTest, SilenceForTwiceTheIntervalIsNoticed) {
  pass(1950ms);
  EXPECT_EQ(silences_, 0);
  pass(600ms);
  EXPECT_EQ(silences_, 1);
  EXPECT_TRUE(switch_.is_silent());
  pass(2s);
  EXPECT_EQ(silences_, 2) << "whoever recovers may have failed: it tries again";
  EXPECT_TRUE(switch_.beat());
  EXPECT_FALSE(switch_.is_silent());
  EXPECT_FALSE(switch_.beat());
}

TEST_F(KeepAliveMonitorTest, WhoSleptBlamesNobody) {
  time_.jump(60s);  // the process was stopped: its own timer comes far too late
  EXPECT_EQ(silences_, 0);
  pass(1500ms);
  EXPECT_EQ(silences_, 0);
  pass(1s);
  EXPECT_EQ(silences_, 1);
}

}  // namespace
}  // namespace league::transport::bus
