#include "league_manager/spectators/figure_keeper.h"

#include <gtest/gtest.h>

#include <semaphore>

#include "league_manager/core/league_testing.h"

namespace league::league_manager::spectators {
namespace {

/// A league of four whose first round is played, as its journal has it.
events::Events first_round() {
  testing::PlayedLeague played(testing::settings(4, 2));
  played.enter_all(1);
  played.step();
  for (events::MatchKey match : played.league.board().with_status(MatchStatus::kAssigned)) {
    (void)played.report(played.league.board().slot(match).referee(),
                        testing::report_of(played.league, match, 1));
  }
  played.step();
  return played.events;
}

class FigureKeeperTest : public ::testing::Test {
 protected:
  /// Gives `events` to the book, then to the keeper.
  void take(const events::Events& events) {
    {
      std::lock_guard lock(mutex_);
      for (const auto& event : events) ASSERT_TRUE(book_.apply(event));
    }
    keeper_.on_events(events);
  }

  std::mutex mutex_;
  files::LeagueBook book_;
  int refusals_ = 0;
  std::counting_semaphore<> told_{0};
  FigureKeeper keeper_{[this](const FigureKeeper::BookReader& read) {
                         std::lock_guard lock(mutex_);
                         if (refusals_-- > 0) return false;
                         read(book_);
                         return true;
                       },
                       [this] { told_.release(); }};
};

TEST_F(FigureKeeperTest, HasFiguresAfterARound) {
  EXPECT_EQ(keeper_.latest(), nullptr);
  take(first_round());
  told_.acquire();
  const auto figures = keeper_.latest();
  ASSERT_NE(figures, nullptr);
  EXPECT_EQ(figures->matches, 2U);
  EXPECT_EQ(figures->players.size(), 4U);
}

TEST_F(FigureKeeperTest, TriesAgainWhenTheBookIsBusy) {
  refusals_ = 2;
  take(first_round());
  told_.acquire();
  EXPECT_EQ(keeper_.latest()->matches, 2U);
}

TEST_F(FigureKeeperTest, EndsAtOnce) {
  take(first_round());
  keeper_.stop();
  keeper_.stop();
}

}  // namespace
}  // namespace league::league_manager::spectators
