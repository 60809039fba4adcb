#include "league_manager/standby/journal_follower.h"

#include <gtest/gtest.h>

#include "common/transport/link/subject.h"
#include "league_manager/standby/standby_takeover_testing.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using testing::JetAnswers;

class JournalFollowerTest : public testing::StandbyTest {
 protected:
  void SetUp() override {
    StandbyTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto heard =
        agent->bus->subscribe(transport::link::journal_have_subject(testing::kStandbyLeague), "",
                              [this](const transport::bus::BusMessage& message) {
                                if (auto had = read_follower_position(message.payload))
                                  hads.add(*had);
                              });
    ASSERT_TRUE(heard);
    listener = std::move(*heard);
  }
  void make() {
    follower = std::make_unique<JournalFollower>(
        local, *agent->bus, *agent->streams, clock,
        JournalFollowerOptions{testing::kStandbyLeague,
                               [this](const journal::EventRecord&) { return verdict; }});
    ASSERT_TRUE(follower->begin());
  }
  core::Result<void> read() { return follower->read_to_end(agent->in(10s)); }

  core::SystemClock clock;
  journal::MemoryJournal local;
  core::Result<void> verdict;
  JetAnswers<FollowerPosition> hads;
  std::unique_ptr<transport::bus::Bus::Subscription> listener;
  std::unique_ptr<JournalFollower> follower;
};

TEST_F(JournalFollowerTest, TakesInWhatTheStreamHas) {
  make();
  publish({4, 1, {}, false});
  publish({4, 1, records(0, 3), false});
  publish({4, 4, records(3, 2), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 5));
  EXPECT_EQ(follower->last_term(), 4);
  EXPECT_EQ(follower->verified(), 5U);
  EXPECT_EQ(follower->stream_sequence(), 3U);
  std::optional<FollowerPosition> had;
  do {
    had = hads.next();
  } while (had && had->sequence < 5);
  ASSERT_TRUE(had);
  EXPECT_EQ(had->term, 4);
}

TEST_F(JournalFollowerTest, ReadsWhatIsPacked) {
  publish({4, 1, records(0, 5), false, true});
  publish({4, 6, records(5, 3), false, true});
  publish({4, 9, records(8, 2), false});
  make();
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 10));
  EXPECT_EQ(follower->packed(), 8U);
  EXPECT_EQ(follower->verified(), 10U);
}

TEST_F(JournalFollowerTest, IsOvertakenByACut) {
  make();
  for (int i = 0; i < 4; ++i) publish({4, static_cast<std::uint64_t>(i + 1), records(i, 1)});
  ASSERT_TRUE(read());
  for (int i = 4; i < 8; ++i) publish({4, static_cast<std::uint64_t>(i + 1), records(i, 1)});
  publish({4, 1, records(0, 8), false, true});
  for (int i = 1; i <= 8; ++i) remove(i);
  publish({4, 9, records(8, 1), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 9));
  EXPECT_EQ(follower->packed(), 8U);
}

TEST_F(JournalFollowerTest, BelievesNoPackedPieceMoreThanASingleOne) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 2)));
  publish({1, 1, records(7, 2), false, true});
  make();
  auto refused = read();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("from event 1 on"), std::string::npos);
}

TEST_F(JournalFollowerTest, GoesOnWhereItsDirectoryEnds) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 2)));
  publish({1, 1, records(0, 3), false});
  publish({1, 4, records(3, 1), false});
  make();
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 4));
}

TEST_F(JournalFollowerTest, RefusesADirectoryWithOtherEvents) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 2)));
  ASSERT_TRUE(journal::append_and_wait(local, records(77, 1)));
  publish({1, 1, records(0, 2), false});
  publish({2, 3, records(2, 1), false});
  make();
  auto refused = read();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("from event 3 on"), std::string::npos);
  EXPECT_NE(refused.error().message.find("--new"), std::string::npos);
  EXPECT_EQ(local.size(), 3U) << "changed nothing";
}

TEST_F(JournalFollowerTest, HasMoreThanTheStreamWithoutHarm) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 5)));
  publish({1, 1, records(0, 3), false});
  make();
  ASSERT_TRUE(read());
  EXPECT_EQ(follower->verified(), 3U);
  EXPECT_EQ(follower->written(), 5U);
}

TEST_F(JournalFollowerTest, TakesGroupsWholeOrNotAtAll) {
  make();
  publish({1, 1, records(0, 2), true});
  publish({1, 3, records(2, 1), true});
  ASSERT_TRUE(read());
  EXPECT_EQ(local.size(), 0U);
  publish({2, 1, {}, false});  // whoever wrote it is gone
  publish({2, 1, records(10, 2), true});
  publish({2, 3, records(12, 1), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(10, 3));
}

TEST_F(JournalFollowerTest, RefusesAStreamWithoutItsBeginning) {
  make();
  publish({1, 4, records(3, 1), false});
  auto refused = read();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("begins with event 4"), std::string::npos);
}

TEST_F(JournalFollowerTest, PassesOverWhatTheStreamDoesNotHaveAnyMore) {
  make();
  publish({1, 1, {}, false});
  publish({1, 1, records(0, 2), false});
  publish({2, 3, {}, false});
  publish({2, 3, records(2, 1), false});
  remove(1);
  remove(3);
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 3));
}

TEST_F(JournalFollowerTest, EndsWhereTheLastMessagesAreGone) {
  make();
  publish({1, 1, records(0, 2), false});
  publish({1, 3, records(2, 1), false});
  publish({1, 4, records(3, 1), false});
  remove(2);
  remove(3);
  ASSERT_TRUE(follower->read_to_end(agent->in(5s)));
  EXPECT_EQ(follower->stream_sequence(), 3U) << "the next one is stored behind it";
  EXPECT_EQ(written(local), records(0, 2));
  publish({2, 3, records(10, 1), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local).back(), record(10));
}

TEST_F(JournalFollowerTest, TakesNothingBehindAGapForComplete) {
  make();
  publish({1, 1, records(0, 1), false});
  publish({1, 2, records(1, 1), false});
  publish({1, 3, records(2, 1), false});
  remove(2);
  auto refused = read();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("begins with event 3"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(written(local), records(0, 1));
}

TEST_F(JournalFollowerTest, TakesNoGroupWithAGapForWhole) {
  make();
  publish({1, 1, records(0, 1), true});
  publish({1, 2, records(1, 1), true});
  publish({1, 3, records(2, 1), false});
  remove(2);
  ASSERT_FALSE(read());
  EXPECT_EQ(local.size(), 0U);
}

TEST_F(JournalFollowerTest, BeginsAnewWithAnotherStreamOfMoreMessages) {
  make();
  publish({1, 1, records(0, 1), false});
  publish({1, 2, records(1, 1), false});
  ASSERT_TRUE(read());
  // The broker has lost it, and whoever leads has published everything again, in larger messages.
  api("STREAM.DELETE.LEAGUE_JOURNAL_l", "");
  ASSERT_TRUE(agent->ensure(journal_stream(testing::kStandbyLeague)));
  publish({2, 1, records(0, 4), false});
  publish({2, 5, records(4, 2), false});
  publish({2, 7, records(6, 1), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, 7));
}

TEST_F(JournalFollowerTest, RefusesWhatDoesNotFitItsKey) {
  make();
  verdict = core::Error{core::ErrorCode::kInternalError, "the wrong key", ""};
  publish({1, 1, records(0, 1), false});
  auto refused = read();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the wrong key");
  EXPECT_EQ(local.size(), 0U);
}

TEST_F(JournalFollowerTest, LosesNothingWithItsBroker) {
  make();
  publish({1, 1, records(0, 10), false});
  ASSERT_TRUE(read());
  broker->kill();
  (void)follower->take(10ms);
  broker->start();
  publish({1, 11, records(10, 10), false});
  auto until = agent->in(20s);
  while (follower->written() < 20 && agent->in(0s) < until) (void)follower->take(100ms);
  EXPECT_EQ(written(local), records(0, 20));
}

TEST_F(JournalFollowerTest, ReadsALongJournal) {
  make();
  constexpr int kPieces = 3'000;
  for (int i = 0; i < kPieces; ++i)
    publish({1, static_cast<std::uint64_t>(i + 1), records(i, 1), false});
  ASSERT_TRUE(read());
  EXPECT_EQ(written(local), records(0, kPieces));
}

}  // namespace
}  // namespace league::league_manager::standby
