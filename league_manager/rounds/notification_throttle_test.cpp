#include "league_manager/rounds/notification_throttle.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::league_manager::rounds {
namespace {

using namespace std::chrono_literals;

TEST(NotificationThrottle, TellsAtOnceThenTakesChangesTogether) {
  league::testing::FakeTime time;
  int told = 0;
  const auto pace = std::make_shared<NotificationThrottle>(time, 200ms, [&] { return ++told > 0; });
  for (int i = 0; i < 100; ++i) pace->changed();
  EXPECT_EQ(told, 1);
  time.advance(199ms);
  EXPECT_EQ(told, 1);
  time.advance(1ms);
  EXPECT_EQ(told, 2) << "the last state is never kept back";
  time.advance(10s);
  EXPECT_EQ(told, 2) << "nothing has changed since";
  pace->changed();
  EXPECT_EQ(told, 3);
}

TEST(NotificationThrottle, TellsNothingOnceItIsGone) {
  league::testing::FakeTime time;
  int told = 0;
  {
    const auto pace =
        std::make_shared<NotificationThrottle>(time, 200ms, [&] { return ++told > 0; });
    pace->changed();
    pace->changed();
  }
  time.advance(1s);
  EXPECT_EQ(told, 1);
}

TEST(NotificationThrottle, DoesNotRestWhereNobodyListens) {
  league::testing::FakeTime time;
  int asked = 0;
  const auto pace =
      std::make_shared<NotificationThrottle>(time, 200ms, [&] { return ++asked == 3; });
  for (int i = 0; i < 5; ++i) pace->changed();
  EXPECT_EQ(asked, 3) << "who begins to listen hears of the next change";
}

}  // namespace
}  // namespace league::league_manager::rounds
