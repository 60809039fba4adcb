#include "common/journal/group_commit.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>

namespace league::journal {
namespace {

core::Error disk_full() { return {core::ErrorCode::kInternalError, "the disk is full", ""}; }

TEST(GroupCommit, WhatComesDuringACommitGoesTogether) {
  std::vector<std::vector<EventRecord>> commits;
  std::latch first_runs(1);
  std::latch may_finish(1);
  {
    GroupCommit group({.store = [&](const std::vector<EventRecord>& records) -> core::Result<void> {
                         if (commits.empty()) {
                           first_runs.count_down();
                           may_finish.wait();
                         }
                         commits.push_back(records);
                         return {};
                       },
                       .on_failure = {},
                       .fault_point = {}});
    group.append({{"A", "1"}}, [](const core::Result<void>& stored) { EXPECT_TRUE(stored); });
    first_runs.wait();
    for (int i = 0; i < 10; ++i)
      group.append({{"B", std::to_string(i)}}, [](const core::Result<void>&) {});
    may_finish.count_down();
  }
  ASSERT_EQ(commits.size(), 2U);
  EXPECT_EQ(commits[1].size(), 10U);
  EXPECT_EQ(commits[1][9].payload, "9");
}

TEST(GroupCommit, NothingIsAcceptedAfterAFailure) {
  int stores = 0;
  std::vector<std::string> answers;
  std::string told;
  {
    GroupCommit group({.store = [&](const std::vector<EventRecord>&) -> core::Result<void> {
                         return ++stores == 2 ? core::Result<void>(disk_full())
                                              : core::Result<void>{};
                       },
                       .on_failure = [&](const core::Error& error) { told = error.message; },
                       .fault_point = {}});
    for (int i = 0; i < 4; ++i) {
      std::promise<void> done;
      group.append({{"A", std::to_string(i)}}, [&](const core::Result<void>& stored) {
        answers.push_back(stored ? "ok" : stored.error().message);
        done.set_value();
      });
      done.get_future().wait();
    }
  }
  EXPECT_EQ(answers, (std::vector<std::string>{"ok", "the disk is full", "the disk is full",
                                               "the disk is full"}));
  EXPECT_EQ(stores, 2);
  EXPECT_EQ(told, "the disk is full");
}

TEST(GroupCommit, TidiesUpAfterCommitsAndNotAfterAFailure) {
  std::vector<std::string> steps;
  {
    GroupCommit group({.store = [&](const std::vector<EventRecord>& records) -> core::Result<void> {
                         steps.push_back(records[0].type);
                         return records[0].type == "BAD" ? core::Result<void>(disk_full())
                                                         : core::Result<void>{};
                       },
                       .on_failure = {},
                       .fault_point = {},
                       .tidy = [&] { steps.emplace_back("tidy"); },
                       .tidy_when_idle = std::chrono::milliseconds(0)});
    for (const char* type : {"A", "B", "BAD"}) {
      std::promise<void> done;
      group.append({{type, ""}}, [&](const core::Result<void>&) { done.set_value(); });
      done.get_future().wait();
    }
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"A", "tidy", "B", "tidy", "BAD"}));
}

TEST(GroupCommit, TidiesUpInTheMiddleOfWorkToo) {
  std::atomic<int> tidied = 0;
  GroupCommit group({.store = [](const std::vector<EventRecord>&) { return core::Result<void>(); },
                     .on_failure = {},
                     .fault_point = {},
                     .tidy = [&] { ++tidied; },
                     .tidy_when_idle = std::chrono::hours(1),
                     .tidy_at_latest = std::chrono::milliseconds(1)});
  while (tidied < 2) group.append({{"A", ""}}, [](const core::Result<void>&) {});
}

TEST(GroupCommit, WithoutRecordsItWaitsForTheOnesBefore) {
  std::atomic<bool> is_stored = false;
  GroupCommit group({.store = [&](const std::vector<EventRecord>&) -> core::Result<void> {
                       is_stored = true;
                       return {};
                     },
                     .on_failure = {},
                     .fault_point = {}});
  group.append({{"A", "1"}}, [](const core::Result<void>&) {});
  std::promise<bool> seen;
  group.append({}, [&](const core::Result<void>&) { seen.set_value(is_stored); });
  EXPECT_TRUE(seen.get_future().get());
}

TEST(GroupCommit, StoppingStoresWhatWaitsAndRefusesWhatComesLater) {
  int stores = 0;
  GroupCommit group({.store = [&](const std::vector<EventRecord>& records) -> core::Result<void> {
                       stores += static_cast<int>(records.size());
                       return {};
                     },
                     .on_failure = {},
                     .fault_point = {}});
  int kept = 0;
  for (int i = 0; i < 20; ++i)
    group.append({{"A", ""}}, [&](const core::Result<void>& stored) { kept += stored ? 1 : 0; });
  group.stop();
  EXPECT_EQ(stores, 20);
  EXPECT_EQ(kept, 20);
  bool is_refused = false;
  group.append({{"B", ""}}, [&](const core::Result<void>& stored) { is_refused = !stored; });
  EXPECT_TRUE(is_refused);
  EXPECT_EQ(stores, 20);
}

TEST(GroupCommit, PassesItsPointsInOrder) {
  std::vector<std::string> course;
  {
    GroupCommit group({.store = [&](const std::vector<EventRecord>&) -> core::Result<void> {
                         course.emplace_back("store");
                         return {};
                       },
                       .on_failure = {},
                       .fault_point =
                           [&](FaultPoint point) {
                             course.push_back("point " + std::to_string(static_cast<int>(point)));
                           }});
    group.append({{"A", "1"}}, [&](const core::Result<void>&) { course.emplace_back("answer"); });
  }
  EXPECT_EQ(course, (std::vector<std::string>{"point 0", "store", "point 1", "point 2", "answer"}));
}

}  // namespace
}  // namespace league::journal
