#include "common/journal/discarding_journal.h"
#include "common/journal/memory_journal_testing.h"

#include <gtest/gtest.h>

#include <thread>

namespace league::journal {
namespace {

TEST(MemoryJournal, ReplaysWhatWasAppendedInOrder) {
  MemoryJournal journal;
  ASSERT_TRUE(append_and_wait(journal, {{"A", "1"}, {"B", "2"}}));
  ASSERT_TRUE(append_and_wait(journal, {{"C", "3"}}));
  std::vector<Entry> seen;
  ASSERT_TRUE(journal.replay([&](const Entry& entry) {
    seen.push_back(entry);
    return core::Result<void>{};
  }));
  EXPECT_EQ(seen, (std::vector<Entry>{{1, {"A", "1"}}, {2, {"B", "2"}}, {3, {"C", "3"}}}));
}

TEST(MemoryJournal, EndsTheReplayWithTheVisitorsError) {
  MemoryJournal journal;
  ASSERT_TRUE(append_and_wait(journal, {{"A", "1"}, {"B", "2"}}));
  int seen = 0;
  auto result = journal.replay([&](const Entry&) -> core::Result<void> {
    ++seen;
    return core::Error{core::ErrorCode::kInternalError, "no", ""};
  });
  EXPECT_FALSE(result);
  EXPECT_EQ(seen, 1);
}

TEST(MemoryJournal, KeepsTheRecordsOfOneAppendTogether) {
  MemoryJournal journal;
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer) {
      writers.emplace_back([&journal, writer] {
        for (int i = 0; i < 100; ++i) {
          (void)append_and_wait(journal,
                                {{std::to_string(writer), "x"}, {std::to_string(writer), "y"}});
        }
      });
    }
  }
  ASSERT_EQ(journal.size(), 800u);
  std::string first;
  ASSERT_TRUE(journal.replay([&](const Entry& entry) {
    if (entry.record.payload == "x") first = entry.record.type;
    if (entry.record.payload == "y") {
      EXPECT_EQ(entry.record.type, first);
    }
    return core::Result<void>{};
  }));
}

TEST(DiscardingJournal, AcceptsAndForgets) {
  DiscardingJournal journal;
  ASSERT_TRUE(append_and_wait(journal, {{"A", "1"}}));
  int seen = 0;
  ASSERT_TRUE(journal.replay([&](const Entry&) {
    ++seen;
    return core::Result<void>{};
  }));
  EXPECT_EQ(seen, 0);
}

}  // namespace
}  // namespace league::journal
