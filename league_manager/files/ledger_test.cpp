#include "league_manager/files/ledger.h"

#include <gtest/gtest.h>

#include "common/journal/memory_journal_testing.h"
#include "league_manager/core/league_testing.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::files {
namespace {

using league::testing::FakeTime;

/// Keeps what is appended; once it is slow, it says "durable" when the test does.
class SlowJournal final : public journal::Journal {
 public:
  void append(std::vector<journal::EventRecord> records, Durable durable) override {
    for (auto& record : records) stored.push_back(std::move(record));
    if (!is_slow) return durable({});
    waiting.push_back(std::move(durable));
  }
  [[nodiscard]] core::Result<void> replay(const Visitor& /*visit*/) const override { return {}; }
  void finish(const core::Result<void>& outcome) {
    for (auto& durable : std::exchange(waiting, {})) durable(outcome);
  }

  bool is_slow = false;
  std::vector<journal::EventRecord> stored;
  std::vector<Durable> waiting;
};

events::Events player_enters(const League& league, core::UtcTimestamp now) {
  auto decision =
      league.decide_register({events::AgentKind::kPlayer, testing::profile("p", 9001), {}, {}},
                             testing::facts("nonce", now));
  return decision ? decision->events : events::Events{};
}

int players_of(const Ledger& ledger) {
  return ledger.read(
      [](const League& league) { return league.roster().count(events::AgentKind::kPlayer); });
}

TEST(Ledger, WhatFollowsWaitsUntilTheEventsAreDurable) {
  FakeTime time;
  SlowJournal journal;
  Ledger ledger({}, journal, time);
  ASSERT_TRUE(ledger.open());
  journal.is_slow = true;
  int followed = 0;
  ledger.commit(player_enters, [&](const core::Result<events::Events>& events) {
    ASSERT_TRUE(events);
    EXPECT_EQ(events->size(), 1U);
    ++followed;
    EXPECT_EQ(players_of(ledger), 1);  // the lock is free
  });
  EXPECT_EQ(players_of(ledger), 1);  // decided on at once, so that nobody gets the same id
  EXPECT_EQ(followed, 0);
  journal.finish({});
  EXPECT_EQ(followed, 1);
}

TEST(Ledger, AJournalThatFailsIsToldToWhoAsked) {
  FakeTime time;
  SlowJournal journal;
  Ledger ledger({}, journal, time);
  ASSERT_TRUE(ledger.open());
  journal.is_slow = true;
  std::string text;
  ledger.commit(player_enters,
                [&](const core::Result<events::Events>& events) { text = events.error().message; });
  journal.finish(core::Error{core::ErrorCode::kInternalError, "the disk is full", ""});
  EXPECT_EQ(text, "the disk is full");
}

TEST(Ledger, NoEventsFollowAtOnceAndAreNotJournalled) {
  FakeTime time;
  SlowJournal journal;
  Ledger ledger({}, journal, time);
  ASSERT_TRUE(ledger.open());
  journal.is_slow = true;
  bool has_followed = false;
  ledger.commit([](const League&, core::UtcTimestamp) { return events::Events{}; },
                [&](const core::Result<events::Events>& events) {
                  has_followed = events && events->empty();
                });
  EXPECT_TRUE(has_followed);
  EXPECT_EQ(journal.stored.size(), 1U);  // the league's creation
}

TEST(Ledger, ARepeatDoesNotLeaveBeforeWhatItRepeats) {
  FakeTime time;
  SlowJournal journal;
  Ledger ledger({}, journal, time);
  ASSERT_TRUE(ledger.open());
  journal.is_slow = true;
  ledger.commit(player_enters, [](const core::Result<events::Events>&) {});
  bool has_followed = false;
  auto nothing = [](const League&, core::UtcTimestamp) { return events::Events{}; };
  ledger.commit(nothing, [&](const core::Result<events::Events>& events) {
    has_followed = events && events->empty();
  });
  EXPECT_FALSE(has_followed);
  journal.finish({});
  EXPECT_TRUE(has_followed);
  has_followed = false;
  ledger.commit(nothing, [&](const core::Result<events::Events>&) { has_followed = true; });
  EXPECT_TRUE(has_followed);  // nothing is on its way any more
}

TEST(Ledger, ShowsDurableEventsToItsObservers) {
  FakeTime time;
  journal::MemoryJournal memory;
  events::Events first_seen;
  {
    SlowJournal journal;
    Ledger ledger({}, journal, time);
    ledger.observe([&](const events::Events& events) {
      first_seen.insert(first_seen.end(), events.begin(), events.end());
    });
    ASSERT_TRUE(ledger.open());
    EXPECT_EQ(first_seen.size(), 1U);
    journal.is_slow = true;
    ledger.commit(player_enters, [](const core::Result<events::Events>&) {});
    EXPECT_EQ(first_seen.size(), 1U);
    journal.finish({});
    EXPECT_EQ(first_seen.size(), 2U);
    ASSERT_TRUE(journal::append_and_wait(memory, journal.stored));
  }
  events::Events replayed;
  Ledger again({}, memory, time);
  again.observe([&](const events::Events& events) {
    replayed.insert(replayed.end(), events.begin(), events.end());
  });
  ASSERT_TRUE(again.open());
  EXPECT_TRUE(again.is_continued());
  EXPECT_EQ(replayed, first_seen);
}

TEST(Ledger, KnowsTheEndOfItsJournal) {
  FakeTime time;
  SlowJournal journal;
  journal::MemoryJournal memory;
  const auto head_of = [&journal](std::size_t entries) {
    journal::JournalPosition head;
    for (; head.sequence < entries; ++head.sequence)
      head.digest = journal::chained(head.digest, journal.stored[head.sequence]);
    return head;
  };
  {
    Ledger ledger({}, journal, time);
    ASSERT_TRUE(ledger.open());
    EXPECT_EQ(ledger.journal_head(), head_of(1));
    journal.is_slow = true;
    ledger.commit(player_enters, [](const core::Result<events::Events>&) {});
    EXPECT_EQ(ledger.journal_head(), head_of(1)) << "the second entry is not durable yet";
    journal.finish({});
    EXPECT_EQ(ledger.journal_head(), head_of(2));
    EXPECT_FALSE(ledger.completion());
  }
  ASSERT_TRUE(journal::append_and_wait(memory, journal.stored));
  Ledger again({}, memory, time);
  ASSERT_TRUE(again.open());
  EXPECT_EQ(again.journal_head(), head_of(2));
}

TEST(Ledger, ReplaysTheJournalOfAnOldLeague) {
  FakeTime time;
  journal::MemoryJournal journal;
  {
    Ledger first({}, journal, time);
    ASSERT_TRUE(first.open());
    first.commit(player_enters,
                 [](const core::Result<events::Events>& events) { EXPECT_TRUE(events); });
  }
  Ledger second({}, journal, time);
  ASSERT_TRUE(second.open());
  EXPECT_EQ(players_of(second), 1);
  EXPECT_EQ(journal.size(), 2U);  // opening again writes nothing
}

}  // namespace
}  // namespace league::league_manager::files
