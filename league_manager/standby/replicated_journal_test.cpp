#include "league_manager/standby/replicated_journal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "common/transport/link/subject.h"
#include "league_manager/standby/standby_takeover_testing.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using testing::JetAnswers;

class ReplicatedJournalTest : public testing::StandbyTest {
 protected:
  void TearDown() override {
    if (replicated) replicated->close();
    if (agent) agent->streams.reset();
  }
  void make(int term = 1, std::uint64_t stream_sequence = 0, std::uint64_t published = 0) {
    ReplicatedJournalOptions options;
    options.league = testing::kStandbyLeague;
    options.term = term;
    options.stream_sequence = stream_sequence;
    options.published = published;
    options.replication = replication;
    options.is_leading = [this] { return is_leading.load(); };
    options.on_fenced = [this](const std::string& why) { fenced.add(why); };
    options.on_notice = [this](const std::string& notice) { notices.add(notice); };
    options.notice_after = 100ms;
    options.pack_at = pack_at;
    options.packed = packed;
    // What the streams still complete reaches for the one of before.
    if (replicated) earlier.push_back(std::move(replicated));
    replicated = std::make_unique<ReplicatedJournal>(local, *agent->bus, *agent->streams, clock,
                                                     agent->timer, std::move(options));
    ASSERT_TRUE(replicated->begin());
  }
  void append(int first, int count) {
    replicated->append(records(first, count), [this, first](const core::Result<void>& stored) {
      EXPECT_TRUE(stored);
      durable.add(first);
    });
  }
  /// Records that the stream does not have packed.
  std::size_t singles() {
    std::size_t count = 0;
    for (const auto& piece : pieces()) count += piece.is_packed ? 0 : piece.records.size();
    return count;
  }
  void say(int term, std::uint64_t sequence) {
    ASSERT_TRUE(agent->bus->publish({transport::link::journal_have_subject(testing::kStandbyLeague),
                                     {},
                                     {},
                                     write_follower_position({term, sequence}),
                                     false}));
  }

  core::SystemClock clock;
  journal::MemoryJournal local;
  std::atomic<bool> is_leading = true;
  Replication replication = Replication::kAsync;
  std::size_t pack_at = 1 << 20;
  std::uint64_t packed = 0;
  JetAnswers<std::string> fenced;
  JetAnswers<std::string> notices;
  JetAnswers<int> durable;
  std::vector<std::unique_ptr<ReplicatedJournal>> earlier;
  std::unique_ptr<ReplicatedJournal> replicated;
};

TEST_F(ReplicatedJournalTest, PublishesEverythingInOrder) {
  make();
  for (int i = 0; i < 300; ++i) append(i * 2, 2);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(durable.next(), i * 2);
  EXPECT_TRUE(replicated->flush(10s));
  EXPECT_EQ(published(), records(0, 600));
  EXPECT_EQ(written(local), records(0, 600));
  EXPECT_EQ(replicated->figures().published, 600U);
  for (const auto& piece : pieces()) {
    EXPECT_EQ(piece.records.size() % 2, 0U) << "groups stay whole";
    EXPECT_FALSE(piece.has_more);
  }
}

TEST_F(ReplicatedJournalTest, CutsTheStreamAtWhatItHasPacked) {
  pack_at = 2'000;
  make();
  for (int i = 0; i < 300; ++i) append(i, 1);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(durable.next(), i);
  EXPECT_TRUE(replicated->flush(10s));
  // The last cut may be under way.
  auto until = agent->in(10s);
  while (singles() > 60 && agent->in(0s) < until) std::this_thread::sleep_for(10ms);
  EXPECT_LE(singles(), 60U);
  EXPECT_GT(agent->state("LEAGUE_JOURNAL_l")->first_sequence, 1U);
  EXPECT_EQ(published(), records(0, 300)) << "in order, and nothing twice";
}

TEST_F(ReplicatedJournalTest, PacksWhatTheManagerBeforeHasLeft) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 60)));
  publish({1, 1, records(0, 20), false, true});
  for (int i = 20; i < 60; ++i) publish({1, static_cast<std::uint64_t>(i + 1), records(i, 1)});
  pack_at = 2'000;
  packed = 20;
  make(2, 41, 60);
  append(60, 1);
  EXPECT_EQ(durable.next(), 60);
  EXPECT_TRUE(replicated->flush(10s));
  auto until = agent->in(10s);
  while (singles() > 1 && agent->in(0s) < until) std::this_thread::sleep_for(10ms);
  EXPECT_LE(singles(), 1U) << "of 41";
  EXPECT_EQ(published(), records(0, 61));
}

TEST_F(ReplicatedJournalTest, IsAsGoodWhenTheAnswerToAPackedPieceIsLost) {
  pack_at = 2'000;
  make();
  append(0, 50);
  EXPECT_EQ(durable.next(), 0);
  EXPECT_TRUE(replicated->flush(10s));
  replicated->close();
  // The same from another process, which does not know that it was stored.
  packed = 0;
  auto state = agent->state("LEAGUE_JOURNAL_l");
  make(1, state->last_sequence, 50);
  EXPECT_TRUE(replicated->flush(10s));
  std::vector<journal::EventRecord> first;
  for (auto& piece : pieces()) {
    if (piece.first_sequence != 1 || first.size() == 50) continue;
    first = piece.records;
  }
  EXPECT_FALSE(first.empty());
  EXPECT_EQ(fenced.count(), 0U);
}

TEST_F(ReplicatedJournalTest, GoesOnWithoutAFullStreamWhereItMay) {
  auto small = journal_stream(testing::kStandbyLeague);
  small.max_bytes = 4'096;
  ASSERT_TRUE(agent->ensure(small));
  make();
  replicated->follow();
  for (int i = 0; i < 100; ++i) append(i, 1);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(durable.next(), i);
  std::optional<std::string> notice;
  do {
    notice = notices.next();
  } while (notice && notice->find("maximum bytes") == std::string::npos);
  EXPECT_TRUE(notice) << "the operator is told";
  EXPECT_EQ(written(local), records(0, 100));
}

TEST_F(ReplicatedJournalTest, SplitsWhatIsTooLargeForAMessage) {
  make();
  std::vector<journal::EventRecord> large(5, {"LARGE", "\"" + std::string(200'000, 'x') + "\""});
  replicated->append(large, [this](const core::Result<void>&) { durable.add(1); });
  EXPECT_EQ(durable.next(), 1);
  auto all = pieces();
  EXPECT_EQ(all.size(), 5U);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].has_more, i + 1 < all.size());
  EXPECT_EQ(published(), large);
  EXPECT_EQ(written(local), large);
}

TEST_F(ReplicatedJournalTest, PublishesWhatTheStreamLacks) {
  ASSERT_TRUE(journal::append_and_wait(local, records(0, 5)));
  publish({1, 1, records(0, 3), false});
  make(2, 1, 3);
  append(5, 1);
  EXPECT_EQ(durable.next(), 5);
  EXPECT_EQ(published(), records(0, 6));
}

TEST_F(ReplicatedJournalTest, WaitsForAFollower) {
  replication = Replication::kSync;
  make(3);
  replicated->follow();
  append(0, 2);
  append(2, 1);
  auto notice = notices.next();
  ASSERT_TRUE(notice);
  EXPECT_NE(notice->find("nothing is answered"), std::string::npos) << *notice;
  EXPECT_EQ(durable.count(), 0U);
  say(2, 3);  // of another term
  say(3, 2);
  EXPECT_EQ(durable.next(), 0);
  EXPECT_EQ(durable.count(), 0U);
  say(3, 3);
  EXPECT_EQ(durable.next(), 2);
  EXPECT_EQ(replicated->figures().followed, 3U);
}

TEST_F(ReplicatedJournalTest, DoesNotWaitForTheBrokerWhenItNeedNot) {
  make();
  replicated->follow();
  broker->freeze();
  append(0, 1);
  EXPECT_EQ(durable.next(), 0);
  auto notice = notices.next();
  ASSERT_TRUE(notice);
  EXPECT_NE(notice->find("1 events behind"), std::string::npos) << *notice;
  EXPECT_FALSE(replicated->flush(10ms));
  broker->thaw();
  EXPECT_TRUE(replicated->flush(20s));
  EXPECT_EQ(published(), records(0, 1));
}

TEST_F(ReplicatedJournalTest, IsFencedByAnothersRecords) {
  make(1);
  append(0, 1);
  EXPECT_EQ(durable.next(), 0);
  publish({2, 2, {}, false});
  append(1, 1);
  auto why = fenced.next();
  ASSERT_TRUE(why);
  EXPECT_NE(why->find("term 2"), std::string::npos) << *why;
  append(2, 1);
  EXPECT_EQ(durable.count(), 0U);
  EXPECT_EQ(published(), records(0, 1)) << "the stream has nothing of the old manager";
  EXPECT_EQ(written(local), records(0, 1)) << "nor has its own journal";
}

TEST_F(ReplicatedJournalTest, WritesNothingHereThatTheStreamMayLack) {
  replication = Replication::kSync;
  make();
  replicated->follow();
  broker->freeze();
  append(0, 1);
  EXPECT_FALSE(replicated->flush(100ms));
  EXPECT_EQ(local.size(), 0U);
  broker->thaw();
  EXPECT_TRUE(replicated->flush(20s));
  EXPECT_EQ(written(local), records(0, 1));
  EXPECT_EQ(durable.count(), 0U);
  say(1, 1);
  EXPECT_EQ(durable.next(), 0);
}

TEST_F(ReplicatedJournalTest, TakesItsOwnRecordForItsOwn) {
  // As if the answer had been lost, and the stream's memory of ids too.
  publish({1, 1, records(0, 1), false, false, Replication::kAsync});
  make(1);
  append(0, 1);
  EXPECT_EQ(durable.next(), 0);
  append(1, 1);
  EXPECT_EQ(durable.next(), 1);
  EXPECT_EQ(published(), records(0, 2));
  EXPECT_EQ(fenced.count(), 0U);
}

TEST_F(ReplicatedJournalTest, SaysNothingWhenItDoesNotLead) {
  make();
  replicated->follow();
  is_leading = false;
  append(0, 1);
  EXPECT_TRUE(replicated->flush(10s));
  EXPECT_EQ(durable.count(), 0U);
}

TEST_F(ReplicatedJournalTest, LosesNothingWithItsBroker) {
  make();
  for (int i = 0; i < 50; ++i) append(i, 1);
  broker->kill();
  for (int i = 50; i < 100; ++i) append(i, 1);
  broker->start();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(durable.next(), i);
  EXPECT_EQ(published(), records(0, 100));
  EXPECT_EQ(fenced.count(), 0U);
}

/// Whose disk fails, on a thread of its own.
class FailingJournal final : public journal::Journal {
 public:
  void append(std::vector<journal::EventRecord>, Durable durable) override {
    std::lock_guard lock(mutex_);
    threads_.emplace_back([durable = std::move(durable)] {
      durable(core::Error{core::ErrorCode::kInternalError, "the disk is full", ""});
    });
  }
  [[nodiscard]] core::Result<void> replay(const Visitor&) const override { return {}; }
  /// Nothing is said any more afterwards.
  void end() {
    std::lock_guard lock(mutex_);
    threads_.clear();
  }

 private:
  std::mutex mutex_;
  std::vector<std::jthread> threads_;
};

TEST_F(ReplicatedJournalTest, SaysOneAtATimeThatItsDiskFails) {
  FailingJournal failing;
  ReplicatedJournalOptions options;
  options.league = testing::kStandbyLeague;
  replicated = std::make_unique<ReplicatedJournal>(failing, *agent->bus, *agent->streams, clock,
                                                   agent->timer, std::move(options));
  ASSERT_TRUE(replicated->begin());
  replicated->follow();
  std::atomic<int> at_once = 0;
  for (int i = 0; i < 50; ++i) {
    replicated->append(records(i, 1), [&](const core::Result<void>& stored) {
      EXPECT_EQ(++at_once, 1);
      EXPECT_FALSE(stored);
      std::this_thread::yield();
      --at_once;
      durable.add(1);
    });
  }
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(durable.next());
  failing.end();
  replicated->close();
  agent->streams.reset();
  replicated.reset();
}

TEST_F(ReplicatedJournalTest, RefusesWhatComesAfterItsEnd) {
  make();
  replicated->close();
  replicated->append(records(0, 1), [this](const core::Result<void>& stored) {
    EXPECT_EQ(stored.error().code, core::ErrorCode::kShuttingDown);
    durable.add(7);
  });
  EXPECT_EQ(durable.next(), 7);
  EXPECT_EQ(local.size(), 0U);
}

}  // namespace
}  // namespace league::league_manager::standby
