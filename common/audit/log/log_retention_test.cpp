#include "common/audit/log/log_retention.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

TEST(Retention, IsInDaysOrASize) {
  EXPECT_EQ(parse_retention("30d")->age, 720h);
  EXPECT_EQ(parse_retention("1")->age, 24h);
  EXPECT_EQ(parse_retention("500M")->bytes, 500U << 20);
  EXPECT_EQ(parse_retention("20GiB")->bytes, std::uint64_t{20} << 30);
  EXPECT_EQ(parse_retention("2KB")->bytes, 2048U);
  for (const char* wrong : {"", "0", "0G", "-1", "d", "G", "1.5G", "1 G", "30 days",
                            "99999999999999999999", "40000d", "18446744073709551615T", "1GG", "1B"})
    EXPECT_FALSE(parse_retention(wrong)) << wrong;
}

class OldLeagues : public ::testing::Test {
 protected:
  /// A league of `bytes` whose last line was written so long ago.
  void add(const std::string& name, std::chrono::hours ago, std::size_t bytes = 1000) {
    for (const char* file : {"agents/P01.log.jsonl", "agents/P01.seal.json"}) {
      fs::path path = logs_ / "archive" / name / file;
      fs::create_directories(path.parent_path());
      std::ofstream(path) << std::string(bytes / 2, 'x');
      fs::last_write_time(path, now_ - ago);
    }
  }

  [[nodiscard]] std::vector<std::string> remove(const LogRetention& retention) const {
    return remove_old_leagues(logs_, retention, now_);
  }
  [[nodiscard]] bool is_there(const std::string& name) const {
    return fs::exists(logs_ / "archive" / name);
  }

  const league::testing::TemporaryDirectory temporary_;
  fs::path logs_ = temporary_.path() / "logs";
  fs::file_time_type now_ = fs::file_time_type::clock::now();
};

TEST_F(OldLeagues, AreKeptForEverUnlessSomebodySaysOtherwise) {
  add("aaaaaaaa", 100'000h);
  EXPECT_TRUE(remove({}).empty());
  EXPECT_TRUE(is_there("aaaaaaaa"));
}

TEST_F(OldLeagues, GoByTheAgeOfTheirLastLine) {
  add("aaaaaaaa", 73h);
  add("bbbbbbbb", 71h);
  fs::last_write_time(logs_ / "archive/bbbbbbbb/agents/P01.seal.json", now_ - 500h);
  EXPECT_EQ(remove({.age = 72h, .bytes = {}}), std::vector<std::string>{"aaaaaaaa"});
  EXPECT_FALSE(is_there("aaaaaaaa"));
  EXPECT_TRUE(is_there("bbbbbbbb"));
}

TEST_F(OldLeagues, GoBySizeTheOldestFirst) {
  add("aaaaaaaa", 1h);
  add("bbbbbbbb", 3h);
  add("cccccccc", 2h);
  EXPECT_EQ(remove({.age = {}, .bytes = 2000}), std::vector<std::string>{"bbbbbbbb"});
  EXPECT_TRUE(remove({.age = {}, .bytes = 2000}).empty());
}

TEST_F(OldLeagues, ThePresentLeagueIsNeverTouched) {
  add("aaaaaaaa", 3h);
  fs::path present = logs_ / "agents" / "P01.log.000001.jsonl.gz";
  fs::create_directories(present.parent_path());
  std::ofstream(present) << std::string(100'000, 'x');
  fs::last_write_time(present, now_ - 100'000h);
  EXPECT_EQ(remove({.age = 1h, .bytes = 1}), std::vector<std::string>{"aaaaaaaa"});
  EXPECT_TRUE(fs::exists(present));
}

TEST_F(OldLeagues, ALinkLeadsNowhere) {
  fs::path elsewhere = temporary_.path() / "elsewhere";
  fs::create_directories(elsewhere);
  std::ofstream(elsewhere / "mine") << "mine";
  add("aaaaaaaa", 100h);
  fs::create_directory_symlink(elsewhere, logs_ / "archive" / "linked");
  fs::create_directory_symlink(elsewhere, logs_ / "archive" / "aaaaaaaa" / "linked");
  EXPECT_EQ(remove({.age = 1h, .bytes = {}}), std::vector<std::string>{"aaaaaaaa"});
  EXPECT_TRUE(fs::exists(elsewhere / "mine"));
  EXPECT_TRUE(is_there("linked"));
}

TEST_F(OldLeagues, WhatAKilledProgramBeganIsEnded) {
  add(".removed-aaaaaaaa", 0h);
  EXPECT_TRUE(remove({.age = 1h, .bytes = {}}).empty());
  EXPECT_FALSE(is_there(".removed-aaaaaaaa"));
}

}  // namespace
}  // namespace league::audit::log
