#include "common/audit/log/log_archive.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/audit/log/audit_log.h"
#include "common/audit/log/chain_verifier.h"
#include "common/audit/log/log_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const LogLeague kFirst{"league_1", std::string(64, 'a')};
const LogLeague kSecond{"league_1", std::string(64, 'b')};
const LogLeague kOld{"league_1"};

class LogArchiveTest : public ::testing::Test {
 protected:
  std::unique_ptr<AuditLog> open() {
    options_.path = *agent_log_path(logs_, "player_alpha_" + std::to_string(++processes_));
    options_.agent = "player:alpha";
    options_.logs = logs_;
    return std::move(AuditLog::open(options_, time_)).value();
  }
  /// One process, in which the player was P01 of `league`.
  void play(const LogLeague& league) {
    auto log = open();
    log->append(record_saying("registers"));
    ASSERT_TRUE(log->retarget(p01_, "player:P01", league));
    log->append(record_saying("plays"));
    log->close();
  }
  /// How many records the log at `path` has, and that it is whole.
  static std::uint64_t records_of(const fs::path& path) {
    for (const auto& segments : find_log_segments(path.parent_path())) {
      if (segments.path != path) continue;
      auto chain = verify_chain(segments);
      EXPECT_TRUE(chain.faults.empty()) << chain.faults.front().text;
      EXPECT_TRUE(chain.complete);
      return chain.records;
    }
    return 0;
  }

  testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  fs::path logs_ = temporary_.path() / "logs";
  fs::path p01_ = *agent_log_path(logs_, "P01");
  fs::path first_ = logs_ / "archive" / "aaaaaaaa" / "agents" / "P01.log.jsonl";
  fs::path second_ = logs_ / "archive" / "bbbbbbbb" / "agents" / "P01.log.jsonl";
  AuditLogOptions options_;
  int processes_ = 0;
};

TEST_F(LogArchiveTest, ALogGoesOnInTheSameLeague) {
  play(kFirst);
  play(kFirst);
  EXPECT_EQ(records_of(p01_), 4U);
  EXPECT_FALSE(fs::exists(logs_ / "archive"));
  EXPECT_EQ(league_of_log(p01_)->key, kFirst.key);
}

TEST_F(LogArchiveTest, AnotherLeagueBeginsAnother) {
  play(kFirst);
  play(kFirst);
  play(kSecond);
  EXPECT_EQ(records_of(p01_), 2U);
  EXPECT_EQ(records_of(first_), 4U) << "with all of its segments";
  EXPECT_TRUE(fs::exists(seal_path(first_)));
  EXPECT_EQ(league_of_log(p01_)->key, kSecond.key);
}

TEST_F(LogArchiveTest, WhoComesBackToALeagueFindsItsLogAgain) {
  play(kFirst);
  play(kSecond);
  play(kFirst);
  EXPECT_EQ(records_of(p01_), 4U);
  EXPECT_EQ(records_of(second_), 2U);
  EXPECT_FALSE(fs::exists(first_));
}

TEST_F(LogArchiveTest, WithoutAKeyTheNameDecides) {
  play(kOld);
  play(kOld);
  EXPECT_EQ(records_of(p01_), 4U);
  play(kFirst);
  EXPECT_EQ(records_of(p01_), 6U) << "the program is newer than the league";
  play({"league_2"});
  EXPECT_EQ(records_of(first_), 6U);
}

TEST_F(LogArchiveTest, WhatWasBeforeANewLeagueIsNoPartOfIt) {
  play(kOld);
  auto league = kFirst;
  league.is_new = true;
  play(league);
  EXPECT_EQ(records_of(p01_), 2U);
  EXPECT_EQ(records_of(logs_ / "archive" / "league_1" / "agents" / "P01.log.jsonl"), 2U);
  play(league);
  EXPECT_EQ(records_of(p01_), 4U) << "its key says that it is the same";
}

TEST_F(LogArchiveTest, ALogThatSomebodyStillWritesStaysWhereItIs) {
  auto still = open();
  ASSERT_TRUE(still->retarget(p01_, "player:P01", kFirst));
  still->append(record_saying("one"));
  auto next = open();
  fs::path temporary = next->path();
  ASSERT_TRUE(next->retarget(p01_, "player:P01", kSecond));
  EXPECT_EQ(next->path(), temporary);
  still->append(record_saying("two"));
  next->append(record_saying("three"));
  still->close();
  next->close();
  EXPECT_EQ(records_of(p01_), 2U);
  EXPECT_EQ(records_of(temporary), 1U);
  EXPECT_EQ(league_of_log(temporary)->key, kSecond.key);
}

TEST_F(LogArchiveTest, TwoProcessesDoNotOpenOneLog) {
  auto one = open();
  options_.path = one->path();
  auto other = AuditLog::open(options_, time_);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("another process writes it"), std::string::npos);
  one->close();
  EXPECT_TRUE(AuditLog::open(options_, time_));
}

TEST_F(LogArchiveTest, NothingIsOverwrittenInTheArchive) {
  fs::create_directories(first_.parent_path());
  std::ofstream(first_) << "something";
  play(kFirst);
  play(kSecond);
  EXPECT_EQ(records_of(logs_ / "archive" / "aaaaaaaa-2" / "agents" / "P01.log.jsonl"), 2U);
  EXPECT_EQ(fs::file_size(first_), 9U);
}

TEST_F(LogArchiveTest, ReadsTheLeagueFromTheHeaders) {
  EXPECT_FALSE(league_of_log(p01_));
  auto log = open();
  ASSERT_TRUE(log->flush(10s));
  EXPECT_FALSE(league_of_log(log->path())) << "it has none yet";
}

}  // namespace
}  // namespace league::audit::log
