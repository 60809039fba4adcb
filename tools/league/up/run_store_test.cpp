#include "tools/league/up/run_store.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "common/transport/link/signals.h"
#include "tools/league/up/process.h"

namespace league::tools {
namespace {

namespace fs = std::filesystem;

class RunStoreTest : public ::testing::Test {
 protected:
  GivenOptions given(std::set<std::string> names = {}) {
    GivenOptions given;
    given.options.data = data_;
    given.options.logs = logs_;
    given.names = std::move(names);
    return given;
  }

  core::Result<RunStore> open(GivenOptions options) {
    return RunStore::open(std::move(options), clock_, stop_);
  }

  /// A league of 6 players that is in the directory.
  void begin() {
    auto options = given();
    options.options.players = 6;
    options.options.seed = 7;
    options.options.strategies = "odd,slow:20";
    auto run_store = open(std::move(options));
    ASSERT_TRUE(run_store) << run_store.error().message;
    EXPECT_FALSE(run_store->is_continued());
    ASSERT_TRUE(run_store->note_manager("cup", 4711));
    make_journal();
  }

  void make_journal() {
    fs::create_directories(data_ / "journal");
    std::ofstream(data_ / "journal" / "journal.sqlite") << "a league";
  }

  std::string refusal(GivenOptions options) {
    auto run_store = open(std::move(options));
    return run_store ? "" : run_store.error().message;
  }

  const league::testing::TemporaryDirectory temporary_;
  fs::path data_ = temporary_.path() / "data";
  fs::path logs_ = temporary_.path() / "logs";
  core::SystemClock clock_;
  transport::link::StopSignal stop_;
};

TEST_F(RunStoreTest, NothingButTheDirectoryIsNeeded) {
  begin();
  auto only_data = given();
  only_data.options.logs.clear();
  auto run_store = open(only_data);
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_TRUE(run_store->is_continued());
  EXPECT_EQ(run_store->options().players, 6);
  EXPECT_EQ(run_store->options().seed, 7U);
  EXPECT_EQ(run_store->options().strategies, "odd,slow:20");
  EXPECT_EQ(run_store->options().port, 4711);
  EXPECT_EQ(run_store->options().league_id, "cup");
  EXPECT_EQ(run_store->directories().logs, logs_);
}

TEST_F(RunStoreTest, TheDirectoryOfTheRunDoesAsWell) {
  begin();
  auto whole = given();
  whole.options.data = temporary_.path();
  auto run_store = open(whole);
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_EQ(run_store->options().data, data_);
}

TEST_F(RunStoreTest, BothDirectoriesCanBeMoved) {
  begin();
  fs::path moved = temporary_.path() / "elsewhere";
  fs::create_directory(moved);
  fs::rename(data_, moved / "data");
  auto there = given();
  there.options.data = moved / "data";
  auto run_store = open(there);
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_EQ(run_store->directories().logs, moved / "logs");
}

TEST_F(RunStoreTest, WhatContradictsTheLeagueIsRefusedByName) {
  begin();
  auto other = given({"--players"});
  other.options.players = 8;
  EXPECT_NE(refusal(other).find("--players 8 contradicts the league"), std::string::npos);
  EXPECT_NE(refusal(other).find("with --players 6"), std::string::npos);
  other = given({"--bus"});
  other.options.bus = "local";
  EXPECT_NE(refusal(other).find("started without --bus"), std::string::npos);
  other = given({"--league"});
  other.options.league_id = "other";
  EXPECT_NE(refusal(other).find("--league cup"), std::string::npos);
  other = given({"--logs"});
  other.options.logs = temporary_.path() / "others";
  EXPECT_NE(refusal(other).find("--logs"), std::string::npos);
  EXPECT_FALSE(fs::exists(temporary_.path() / "others"));
}

TEST_F(RunStoreTest, WhatIsTheSameOrTheMachinesIsTaken) {
  begin();
  auto same = given({"--players", "--port", "--logs"});
  same.options.players = 6;
  same.options.port = 4712;
  auto run_store = open(same);
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_EQ(run_store->options().port, 4712);
  EXPECT_EQ(run_store->options().seed, 7U);
}

TEST_F(RunStoreTest, WhatWasInterruptedBeforeItBeganCanBecomeAnotherLeague) {
  {
    auto first = given();
    first.options.players = 6;
    ASSERT_TRUE(open(first));
  }
  {
    auto same = open(given());
    ASSERT_TRUE(same);
    EXPECT_EQ(same->options().players, 6);
    EXPECT_FALSE(same->is_continued());
  }
  auto other = given({"--players"});
  other.options.players = 8;
  auto run_store = open(other);
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_EQ(run_store->options().players, 8);
}

TEST_F(RunStoreTest, TheLeagueOfAnotherProgramIsLeftAlone) {
  make_journal();
  EXPECT_NE(refusal(given()).find("did not begin"), std::string::npos);
  EXPECT_FALSE(fs::exists(data_ / "league_up.json"));
  EXPECT_FALSE(fs::exists(data_ / "league_up.lock"));
}

TEST_F(RunStoreTest, ADamagedFileIsRefusedAndLeftAlone) {
  begin();
  for (const char* damage : {"", "[]", R"({"schema_version":2})", R"({"schema_version":1})",
                             R"({"schema_version":1,"options":{"players":"six"},"logs":"l"})"}) {
    std::ofstream(data_ / "league_up.json") << damage;
    EXPECT_NE(refusal(given()).find("league_up.json"), std::string::npos) << damage;
    EXPECT_EQ(fs::file_size(data_ / "league_up.json"), std::string(damage).size());
  }
}

TEST_F(RunStoreTest, LimitsAreKeptAndAreForTheOwnerOnly) {
  auto options = given();
  options.options.limits = nlohmann::json::parse(R"({"retry":{"delay_ms":50}})");
  { ASSERT_TRUE(open(options)); }
  auto run_store = open(given());
  ASSERT_TRUE(run_store) << run_store.error().message;
  EXPECT_EQ(run_store->options().limits, options.options.limits);
  struct stat about {};
  ASSERT_EQ(::stat((data_ / "league_up.json").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(RunStoreTest, LimitsOfAnOlderLeagueAreTakenFromTheirFile) {
  begin();
  const char* const old = R"({"schema_version":1,"options":{"players":6},"logs":"../logs"})";
  std::ofstream(data_ / "league_up.json") << old;
  std::ofstream(data_ / "league_up.limits.json")
      << "{\"comment\": \"fast\", // indeed\n\"retry\": {\"delay_ms\": 50}}";
  std::ofstream(data_ / "stdio_players.toml") << "[player]\n";
  {
    auto run_store = open(given());
    ASSERT_TRUE(run_store) << run_store.error().message;
    EXPECT_EQ(run_store->options().limits.dump(), R"({"retry":{"delay_ms":50}})");
    EXPECT_EQ(run_store->options().programs_config, data_ / "stdio_players.toml")
        << "its players have registered with this name";
  }
  std::ofstream(data_ / "league_up.limits.json") << "not read again";
  EXPECT_EQ(open(given())->options().limits.dump(), R"({"retry":{"delay_ms":50}})");
  std::ofstream(data_ / "league_up.json") << old;
  EXPECT_NE(refusal(given()).find("league_up.json: limits: "), std::string::npos);
}

TEST_F(RunStoreTest, ANonceIsTheSameInEveryRun) {
  core::CryptoRandom random;
  std::string first;
  {
    auto run_store = open(given());
    ASSERT_TRUE(run_store);
    first = *run_store->nonce_of("odd-1", random);
    EXPECT_NE(first, *run_store->nonce_of("odd-2", random));
  }
  auto run_store = open(given());
  ASSERT_TRUE(run_store);
  EXPECT_EQ(*run_store->nonce_of("odd-1", random), first);
}

TEST_F(RunStoreTest, TheResultOfAFinishedLeagueIsKept) {
  begin();
  {
    auto run_store = open(given());
    ASSERT_TRUE(run_store);
    EXPECT_EQ(run_store->result(), "");
    ASSERT_TRUE(run_store->note_result(R"({"matches":15})"));
  }
  auto run_store = open(given());
  ASSERT_TRUE(run_store);
  EXPECT_EQ(run_store->result(), R"({"matches":15})");
}

TEST_F(RunStoreTest, AnOrphanIsWaitedFor) {
  std::optional<ChildProcess> orphan;
  {
    auto run_store = open(given());
    ASSERT_TRUE(run_store);
    auto started = ChildProcess::start({.program = "/bin/sh",
                                        .arguments = {"-c", "exec tail -f /dev/null"},
                                        .stderr_file = temporary_.path() / "err"});
    ASSERT_TRUE(started);
    orphan.emplace(std::move(*started));
  }
  stop_.request_stop();  // so nobody has to wait for the whole patience
  EXPECT_NE(refusal(given()).find("interrupted while another run"), std::string::npos);
  orphan.reset();
  EXPECT_EQ(refusal(given()), "");
}

TEST(ContinuingCommand, CanBeCopiedIntoAShell) {
  EXPECT_TRUE(continuing_command("runs/1/data").ends_with(" up --data runs/1/data"));
  EXPECT_TRUE(continuing_command("my cup's").ends_with(" up --data 'my cup'\\''s'"));
}

}  // namespace
}  // namespace league::tools
