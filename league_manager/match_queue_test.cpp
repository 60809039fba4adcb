#include "league_manager/match_queue.h"

#include <gtest/gtest.h>

#include "common/journal/memory_journal.h"
#include "league_manager/league_test_support.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager {
namespace {

using league::testing::FakeTime;
using std::chrono::seconds;

/// Writes down what is offered: `R1M1.attempt.repetition`.
class WrittenQueue final : public MatchQueue {
 public:
  void offer(MatchKey match, int attempt, int repetition, Offered done) override {
    answers.push_back(std::move(done));
    offers.push_back(match.id().str() + "." + std::to_string(attempt) + "." +
                     std::to_string(repetition));
  }
  std::vector<std::string> take() { return std::exchange(offers, {}); }
  /// Of all that is not answered.
  void answer(OfferOutcome outcome) {
    for (const auto& done : std::exchange(answers, {})) done(outcome, "it is full");
  }

  std::vector<std::string> offers;
  std::vector<Offered> answers;
};

class QueueKeeperTest : public ::testing::Test {
 protected:
  void begin(bool takes_from_queue = true) {
    auto settings = testing::settings(4, 1);
    settings.has_queue = true;
    ledger_ = std::make_unique<Ledger>(settings, journal_, time_);
    ASSERT_TRUE(ledger_->open());
    for (int i = 0; i < 4; ++i) enter(AgentKind::kPlayer, i, false);
    enter(AgentKind::kReferee, 4, takes_from_queue);
    decide([](const League& league, core::UtcTimestamp now) {
      Events all;
      League copy = league;
      while (copy.due() != Step::kNone) {
        StepFacts facts{now, {}};
        facts.draw_seeds.resize(copy.seeds_needed());
        auto events = *copy.decide_step(facts);
        EXPECT_TRUE(copy.apply_all(events));
        all.insert(all.end(), events.begin(), events.end());
      }
      return all;
    });
    keeper_ = std::make_unique<QueueKeeper>(*ledger_, queue_, time_, seconds(30));
  }

  void enter(AgentKind kind, int number, bool takes_from_queue) {
    decide([=](const League& league, core::UtcTimestamp now) {
      auto profile = testing::profile("a" + std::to_string(number), 9000 + number, 4);
      profile.takes_from_queue = takes_from_queue;
      return league.decide_register({kind, profile, {}, {}}, testing::facts("n", now))->events;
    });
  }

  void decide(const std::function<Events(const League&, core::UtcTimestamp)>& decision) {
    ledger_->commit(decision,
                    [](const core::Result<Events>& stored) { ASSERT_TRUE(stored.has_value()); });
  }

  std::vector<std::string> synced() {
    keeper_->sync();
    return queue_.take();
  }

  /// Where the league has it: with a referee, or not.
  int held() {
    return ledger_->read([](const League& league) { return league.board().open_count(0); });
  }
  void tick() {
    decide([](const League& league, core::UtcTimestamp now) { return league.decide_tick(now); });
  }

  using Offers = std::vector<std::string>;
  FakeTime time_;
  journal::MemoryJournal journal_;
  WrittenQueue queue_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<QueueKeeper> keeper_;
};

TEST_F(QueueKeeperTest, OffersWhatWaitsOnce) {
  begin();
  EXPECT_EQ(synced(), (Offers{"R1M1.1.0", "R1M2.1.0"}));
  EXPECT_EQ(synced(), Offers{});
}

TEST_F(QueueKeeperTest, OffersNothingWhereNobodyComes) {
  begin(false);
  EXPECT_EQ(synced(), Offers{});
}

TEST_F(QueueKeeperTest, OffersAgainWhatWaitsInVainEachTimeLater) {
  begin();
  (void)synced();
  time_.advance(seconds(29));
  EXPECT_EQ(synced(), Offers{});
  time_.advance(seconds(1));
  EXPECT_EQ(synced(), (Offers{"R1M1.1.1", "R1M2.1.1"}));
  time_.advance(seconds(59));
  EXPECT_EQ(synced(), Offers{});
  time_.advance(seconds(1));
  EXPECT_EQ(synced(), (Offers{"R1M1.1.2", "R1M2.1.2"}));
}

TEST_F(QueueKeeperTest, OffersTheNextAttemptOfAMatchThatWasTakenBack) {
  begin();
  (void)synced();
  decide([](const League& league, core::UtcTimestamp now) {
    return league.decide_claims(0, {{{1, 1}}}, now).events;
  });
  EXPECT_EQ(synced(), Offers{});
  decide([](const League& league, core::UtcTimestamp now) {
    return league.decide_referee_lost(0, now);
  });
  EXPECT_EQ(synced(), Offers{"R1M1.2.0"});
}

TEST_F(QueueKeeperTest, MatchesAreGivenOutWhileTheQueueDoesNotTakeThem) {
  begin();
  (void)synced();
  queue_.answer(OfferOutcome::kTaken);
  tick();
  EXPECT_EQ(held(), 0) << "referees come for them";
  time_.advance(seconds(30));
  (void)synced();
  queue_.answer(OfferOutcome::kRefused);
  tick();
  EXPECT_EQ(held(), 2);
}

TEST_F(QueueKeeperTest, AQueueThatTakesAMatchWorksAgain) {
  begin();
  (void)synced();
  queue_.answer(OfferOutcome::kRefused);
  EXPECT_EQ(synced(), Offers{"R1M1.1.1"}) << "one, to try it";
  EXPECT_EQ(synced(), Offers{}) << "not answered yet";
  queue_.answer(OfferOutcome::kRefused);
  EXPECT_EQ(synced(), Offers{}) << "not at once again";
  time_.advance(seconds(1));
  EXPECT_EQ(synced(), Offers{"R1M1.1.2"});
  queue_.answer(OfferOutcome::kTaken);
  EXPECT_EQ(synced(), Offers{"R1M2.1.1"}) << "the others too";
  tick();
  EXPECT_EQ(held(), 0);
}

TEST_F(QueueKeeperTest, AQueueThatIsNotThereYetIsLookedForLessAndLess) {
  begin();
  ledger_->use_queue(false);
  keeper_ = std::make_unique<QueueKeeper>(*ledger_, queue_, time_, seconds(30), false);
  for (int pause : {200, 400, 800, 1600, 3200, 6400, 10000}) {
    EXPECT_EQ(synced().size(), 1U);
    queue_.answer(OfferOutcome::kRefused);
    time_.advance(std::chrono::milliseconds(pause - 1));
    EXPECT_EQ(synced(), Offers{}) << pause;
    time_.advance(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(synced(), Offers{"R1M1.1.8"});
  queue_.answer(OfferOutcome::kTaken);
  EXPECT_EQ(synced(), Offers{"R1M2.1.0"}) << "the others too";
  tick();
  EXPECT_EQ(held(), 0) << "referees come for them";
}

TEST_F(QueueKeeperTest, AMatchThatIsOverShowsThatTheQueueWorks) {
  begin();
  (void)synced();
  queue_.answer(OfferOutcome::kRefused);
  tick();
  EXPECT_EQ(synced(), Offers{}) << "none waits, and none is over";
  decide([](const League& league, core::UtcTimestamp now) {
    return league.decide_report(0, testing::report_of(league, {1, 1}, 0), now).events;
  });
  EXPECT_EQ(synced(), Offers{"R1M1.1.1"});
  queue_.answer(OfferOutcome::kTaken);
  EXPECT_EQ(synced(), Offers{});
}

TEST_F(QueueKeeperTest, WhatMayNotHaveArrivedIsOfferedAgainSoon) {
  begin();
  (void)synced();
  queue_.answer(OfferOutcome::kUnknown);
  EXPECT_EQ(synced(), (Offers{"R1M1.1.1", "R1M2.1.1"}));
  tick();
  EXPECT_EQ(held(), 0) << "nobody could be told";
}

}  // namespace
}  // namespace league::league_manager
