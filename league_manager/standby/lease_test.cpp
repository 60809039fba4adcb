#include "league_manager/standby/lease.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "league_manager/standby/standby_takeover_testing.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using testing::JetAgent;
using testing::JetAnswers;

class LeaseTest : public testing::StandbyTest {
 protected:
  std::unique_ptr<Lease> make(JetAgent& who, const std::string& holder) {
    return std::make_unique<Lease>(
        *who.streams, clock, who.timer,
        LeaseOptions{testing::kStandbyLeague, holder, gone, lease,
                     [this, holder](const std::string&) { lost.add(holder); }});
  }
  /// Waits until it is free.
  Lease::TakeResult take(Lease& lease_of_one) {
    auto until = agent->in(20s);
    for (;;) {
      auto taken = lease_of_one.try_take(1s);
      if ((taken && taken->is_ours) || agent->in(0s) > until) return taken.value_or({});
    }
  }
  /// For longer than a word counts that is not said again.
  void expect_kept(Lease& ours, Lease& theirs) {
    auto until = agent->in(lease * 3 / 2);
    while (agent->in(0s) < until) {
      auto refused = theirs.try_take(10s);
      ASSERT_TRUE(refused && !refused->is_ours);
      ASSERT_TRUE(ours.is_held());
    }
  }
  /// Before the broker goes.
  void end(Lease& ours, Lease& theirs, JetAgent& other) {
    ours.end();
    theirs.end();
    other.streams.reset();
    agent->streams.reset();
  }
  core::SystemClock clock;
  std::vector<std::string> gone;
  JetAnswers<std::string> lost;
};

TEST_F(LeaseTest, IsOnesAtATime) {
  JetAgent other(broker->url());
  auto ours = make(*agent, "one");
  auto theirs = make(other, "two");
  auto taken = ours->try_take(5s);
  ASSERT_TRUE(taken && taken->is_ours);
  EXPECT_TRUE(ours->is_held());
  auto refused = theirs->try_take(5s);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->is_ours);
  EXPECT_EQ(refused->other, "one");
  EXPECT_FALSE(theirs->is_held());
  end(*ours, *theirs, other);
}

TEST_F(LeaseTest, TheWordOfWhoIsGoneIsNoHindrance) {
  JetAgent other(broker->url());
  lease = 60s;  // nobody waits for that
  ASSERT_TRUE(agent->ensure(lease_stream(testing::kStandbyLeague, lease)));
  auto ours = make(*agent, "one");
  auto first = ours->try_take(5s);
  ASSERT_TRUE(first && first->is_ours);
  gone = {"zero", "one"};
  auto theirs = make(other, "two");
  auto taken = theirs->try_take(5s);
  ASSERT_TRUE(taken && taken->is_ours);
  EXPECT_GT(taken->number, first->number);
  // Had it been there all the same, it would be fenced as ever.
  ours->keep();
  EXPECT_EQ(lost.next(), "one");
  end(*ours, *theirs, other);
}

TEST_F(LeaseTest, TakesItsOwnWordForItsOwn) {
  auto ours = make(*agent, "one");
  auto first = ours->try_take(5s);  // of which, let us say, no answer came
  ASSERT_TRUE(first && first->is_ours);
  auto again = ours->try_take(5s);
  ASSERT_TRUE(again && again->is_ours);
  EXPECT_GT(again->number, first->number);
  ours->end();
  agent->streams.reset();
}

TEST_F(LeaseTest, LastsAsLongAsItIsKept) {
  JetAgent other(broker->url());
  auto ours = make(*agent, "one");
  auto theirs = make(other, "two");
  ASSERT_TRUE(ours->try_take(5s)->is_ours);
  ours->keep();
  expect_kept(*ours, *theirs);
  ours->give_back(5s);
  EXPECT_FALSE(ours->is_held());
  EXPECT_TRUE(theirs->try_take(5s)->is_ours) << "at once";
  EXPECT_EQ(lost.count(), 0U);
  end(*ours, *theirs, other);
}

TEST_F(LeaseTest, KeepsAWordOfItsOwnThatItHasNotHeardOf) {
  JetAgent other(broker->url());
  auto ours = make(*agent, "one");
  auto theirs = make(other, "two");
  ASSERT_TRUE(ours->try_take(5s)->is_ours);
  // As a renewal that was stored while its answer was lost.
  auto unheard = agent->publish(transport::link::lease_subject("l"), R"({"holder":"one"})");
  ASSERT_EQ(unheard.status, transport::bus::PublishAck::Status::kStored);
  ours->keep();
  expect_kept(*ours, *theirs);
  EXPECT_EQ(lost.count(), 0U);
  end(*ours, *theirs, other);
}

/// A broker that has lost its streams counts anew.
TEST_F(LeaseTest, AnothersWordWithItsNumberIsNotItsOwn) {
  JetAgent other(broker->url());
  auto ours = make(*agent, "one");
  auto theirs = make(other, "two");
  auto first = ours->try_take(5s);
  ASSERT_TRUE(first && first->is_ours);
  broker->kill();
  std::filesystem::remove_all(directory.path());
  broker->start();
  ASSERT_TRUE(other.ensure(lease_stream(testing::kStandbyLeague, lease)));
  auto second = theirs->try_take(10s);
  ASSERT_TRUE(second && second->is_ours);
  EXPECT_EQ(second->number, first->number);
  ours->keep();
  EXPECT_TRUE(lost.next());
  EXPECT_FALSE(ours->is_held());
  EXPECT_FALSE(ours->try_take(5s)->is_ours) << "it is the other's";
  end(*ours, *theirs, other);
}

TEST_F(LeaseTest, IsFreeWhenNobodyKeepsIt) {
  JetAgent other(broker->url());
  auto ours = make(*agent, "one");
  auto theirs = make(other, "two");
  auto first = ours->try_take(5s);
  ASSERT_TRUE(first->is_ours);
  auto second = take(*theirs);
  ASSERT_TRUE(second.is_ours);
  EXPECT_GT(second.number, first->number);
  EXPECT_FALSE(ours->is_held()) << "by our own clock, before it was another's";
  // Too late: it is another's.
  ours->keep();
  EXPECT_EQ(lost.next(), "one");
  end(*ours, *theirs, other);
}

TEST_F(LeaseTest, IsLostWithABrokerThatDoesNotAnswer) {
  auto ours = make(*agent, "one");
  ASSERT_TRUE(ours->try_take(5s)->is_ours);
  ours->keep();
  broker->freeze();
  EXPECT_EQ(lost.next(), "one");
  EXPECT_FALSE(ours->is_held());
  broker->thaw();
  ours->end();
  agent->streams.reset();
}

TEST_F(LeaseTest, SurvivesABrokerThatIsSoonBack) {
  lease = 6000ms;
  ASSERT_TRUE(agent->ensure(lease_stream(testing::kStandbyLeague, lease)));
  auto ours = make(*agent, "one");
  ASSERT_TRUE(ours->try_take(5s)->is_ours);
  ours->keep();
  broker->kill();
  broker->start();
  JetAgent other(broker->url());
  auto theirs = make(other, "two");
  auto until = agent->in(lease * 3 / 2);
  while (agent->in(0s) < until) {
    auto refused = theirs->try_take(10s);
    ASSERT_TRUE(!refused || !refused->is_ours);
  }
  EXPECT_TRUE(ours->is_held());
  EXPECT_EQ(lost.count(), 0U);
  end(*ours, *theirs, other);
}

}  // namespace
}  // namespace league::league_manager::standby
