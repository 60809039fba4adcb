#include "common/core/timer.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <vector>

#include "tests/support/fake_clock.h"

namespace league::core {
namespace {

using namespace std::chrono_literals;
constexpr auto kPatience = 10s;

TEST(ThreadTimer, RunsInTheOrderOfTheDelays) {
  ThreadTimer timer;
  std::vector<int> order;  // written on the timer's thread only, read after `done`
  std::promise<void> done;
  timer.schedule(300ms, [&] { done.set_value(); });
  timer.schedule(200ms, [&] { order.push_back(2); });
  timer.schedule(1ms, [&] { order.push_back(1); });
  ASSERT_EQ(done.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(ThreadTimer, NeverRunsTooEarly) {
  ThreadTimer timer;
  std::promise<std::chrono::steady_clock::time_point> ran;
  auto start = std::chrono::steady_clock::now();
  timer.schedule(15ms, [&] { ran.set_value(std::chrono::steady_clock::now()); });
  auto when = ran.get_future();
  ASSERT_EQ(when.wait_for(kPatience), std::future_status::ready);
  EXPECT_GE(when.get() - start, 15ms);
}

TEST(ThreadTimer, ForgetsWhatIsCancelled) {
  ThreadTimer timer;
  std::promise<void> later;
  bool has_run = false;
  auto id = timer.schedule(200ms, [&] { has_run = true; });
  EXPECT_TRUE(timer.cancel(id));
  EXPECT_FALSE(timer.cancel(id));
  EXPECT_FALSE(timer.cancel(0));
  timer.schedule(250ms, [&] { later.set_value(); });
  ASSERT_EQ(later.get_future().wait_for(kPatience), std::future_status::ready);
  EXPECT_FALSE(has_run);
}

TEST(ThreadTimer, AnEarlierFunctionOvertakesTheOneThatIsWaitedFor) {
  ThreadTimer timer;
  timer.schedule(1h, [] {});
  std::promise<void> soon;
  timer.schedule(0ms, [&] { soon.set_value(); });
  EXPECT_EQ(soon.get_future().wait_for(kPatience), std::future_status::ready);
}

TEST(ThreadTimer, FunctionsMayScheduleAndCancel) {
  ThreadTimer timer;
  std::promise<bool> cancelled;
  auto victim = timer.schedule(1h, [] {});
  timer.schedule(0ms, [&] {
    bool was_waiting = timer.cancel(victim);
    timer.schedule(0ms, [&cancelled, was_waiting] { cancelled.set_value(was_waiting); });
  });
  auto result = cancelled.get_future();
  ASSERT_EQ(result.wait_for(kPatience), std::future_status::ready);
  EXPECT_TRUE(result.get());
}

TEST(ThreadTimer, DestructionReleasesWhatWaits) {
  auto held = std::make_shared<int>(1);
  {
    ThreadTimer timer;
    timer.schedule(1h, [held] {});
    EXPECT_EQ(held.use_count(), 2);
  }
  EXPECT_EQ(held.use_count(), 1);
}

TEST(FakeTime, RunsWhatFallsDueAndNothingElse) {
  testing::FakeTime time;
  std::vector<int> order;
  time.schedule(2s, [&] { order.push_back(2); });
  time.schedule(1s, [&] { order.push_back(1); });
  time.schedule(3s, [&] { order.push_back(3); });
  time.advance(2s);
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
  EXPECT_EQ(time.utc_now().to_wire(), "2025-01-15T10:30:02Z");
  EXPECT_TRUE(time.advance_to_next());
  EXPECT_EQ(order.back(), 3);
  EXPECT_FALSE(time.advance_to_next());
}

}  // namespace
}  // namespace league::core
