#include "league_manager/admission/seat_calls.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::league_manager::admission {
namespace {

using std::chrono::milliseconds;

class SeatCallsTest : public ::testing::Test {
 protected:
  /// How long ago it came; -1: not known.
  [[nodiscard]] int age(const SeatedCall& call) const {
    const auto first = calls_.first(call);
    return first ? static_cast<int>((time_.steady_now() - *first) / milliseconds(1)) : -1;
  }

  league::testing::FakeTime time_;
  SeatCalls calls_{time_};
  const SeatedCall invitation_{
      .player = 0, .match = {1, 1}, .attempt = 1, .play = 0, .message_type = "GAME_INVITATION"};
};

TEST_F(SeatCallsTest, KnowsWhenEachCallFirstCame) {
  SeatedCall other = invitation_;
  other.player = 1;
  SeatedCall choice = invitation_;
  choice.message_type = "CHOOSE_PARITY_CALL";
  SeatedCall replayed = invitation_;
  replayed.play = 1;
  calls_.note(invitation_);
  time_.advance(milliseconds(300));
  for (const auto& call : {invitation_, choice, replayed}) calls_.note(call);
  time_.advance(milliseconds(100));
  EXPECT_EQ(age(invitation_), 400);
  EXPECT_EQ(age(choice), 100);
  EXPECT_EQ(age(replayed), 100);
  EXPECT_EQ(age(other), -1);
}

TEST_F(SeatCallsTest, KeepsTheLastAttemptOnly) {
  SeatedCall second = invitation_;
  second.attempt = 2;
  calls_.note(invitation_);
  calls_.note(second);
  EXPECT_EQ(age(invitation_), -1);
  EXPECT_EQ(age(second), 0);
}

TEST_F(SeatCallsTest, ThousandsOfPlaysAreOne) {
  SeatedCall replayed = invitation_;
  for (const int play : {3, 4, 5000}) {
    replayed.play = play;
    calls_.note(replayed);
    time_.advance(milliseconds(10));
  }
  EXPECT_EQ(age(replayed), 30);
  EXPECT_EQ(age(invitation_), -1);
}

}  // namespace
}  // namespace league::league_manager::admission
