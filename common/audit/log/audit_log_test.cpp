#include "common/audit/log/audit_log.h"
#include "common/audit/log/log_testing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// Headers and records, without the seals.
std::vector<json> lines_of(const std::filesystem::path& path) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    lines.push_back(json::parse(line));
    if (lines.back().contains("seal")) lines.pop_back();
  }
  return lines;
}

class AuditLogTest : public ::testing::Test {
 protected:
  AuditLogTest() {
    options_.path = directory_ / "agents" / "tmp_1.log.jsonl";
    options_.agent = "player:alpha";
  }

  std::unique_ptr<AuditLog> open() { return std::move(AuditLog::open(options_, time_)).value(); }

  testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  AuditLogOptions options_;
};

TEST_F(AuditLogTest, BeginsWithAHeaderAndNumbersTheRecords) {
  auto log = open();
  log->append(record_saying("one"));
  log->append(record_saying("two"));
  ASSERT_TRUE(log->flush(10s));
  auto lines = lines_of(options_.path);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0]["format"], "league.conversation-log");
  EXPECT_EQ(lines[0]["agent"], "player:alpha");
  EXPECT_EQ(lines[0]["created"], "2025-01-15T10:30:00.000000Z");
  EXPECT_EQ(lines[1]["seq"], 1);
  EXPECT_EQ(lines[2]["seq"], 2);
  EXPECT_EQ(lines[2]["raw"], "two");
}

TEST_F(AuditLogTest, ChargesASenderWhenItsRecordIsQueuedAndExactlyWhenItIsWritten) {
  auto log = open();
  auto record = record_saying(std::string(1000, '"'));
  record.meter = std::make_shared<transport::link::LogMeter>();
  const auto meter = record.meter;
  log->append(std::move(record));
  const std::int64_t at_once = meter->take();
  EXPECT_GE(at_once, 1000);
  ASSERT_TRUE(log->flush(10s));
  std::ifstream file(options_.path);
  std::string line;
  while (std::getline(file, line) && line.find("\"seq\":1") == line.npos) {
  }
  EXPECT_EQ(at_once + meter->take(), std::ssize(line) + 1);
}

TEST_F(AuditLogTest, ManyThreadsAndATinyQueueLoseNothing) {
  options_.queue_bytes = 2000;
  auto log = open();
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i)
        log->append(record_saying(std::to_string(t) + "/" + std::to_string(i)));
    });
  }
  for (auto& thread : threads) thread.join();
  log->close();
  auto lines = lines_of(options_.path);
  ASSERT_EQ(lines.size(), 1U + kThreads * kEach);
  std::set<std::string> bodies;
  std::vector<int> next(kThreads, 0);
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i]["seq"], i);
    std::string body = lines[i]["raw"];
    bodies.insert(body);
    auto t = static_cast<std::size_t>(body[0] - '0');
    EXPECT_EQ(body.substr(2), std::to_string(next[t]++));
  }
  EXPECT_EQ(bodies.size(), std::size_t{kThreads * kEach});
  EXPECT_EQ(log->state().lost, 0U);
  EXPECT_EQ(log->state().records, std::uint64_t{kThreads * kEach});
}

TEST_F(AuditLogTest, BeginsASegmentWhenOneIsFullAndTheOrderIsInTheNames) {
  options_.segment_bytes = 1000;
  auto log = open();
  for (int i = 0; i < 3; ++i) {
    log->append(record_saying(std::string(1500, 'x')));
    ASSERT_TRUE(log->flush(10s));
  }
  log->close();
  EXPECT_EQ(last_segment(options_.path), 3);
  auto second = lines_of(segment_path(options_.path, 2));
  EXPECT_EQ(second[0]["segment"], 2);
  EXPECT_EQ(second[0]["first_seq"], 2);
  EXPECT_EQ(second[1]["seq"], 2);
}

TEST_F(AuditLogTest, GoesOnWhereAnEarlierRunEndedEvenWithATornLine) {
  open()->append(record_saying("first run"));
  std::ofstream(options_.path, std::ios::app) << R"({"seq":2,"time":"20)";
  auto log = open();
  log->append(record_saying("second run"));
  log->close();
  EXPECT_EQ(lines_of(options_.path)[1]["seq"], 2);
  EXPECT_EQ(lines_of(options_.path)[0]["segment"], 2);
  EXPECT_TRUE(std::filesystem::exists(segment_path(options_.path, 1)));
}

TEST_F(AuditLogTest, MovesToTheNameOfItsAgent) {
  auto log = open();
  log->append(record_saying("before"));
  auto path = *agent_log_path(directory_, "P01");
  ASSERT_TRUE(log->retarget(path, "player:P01", {"league_1"}));
  log->append(record_saying("after"));
  log->close();
  EXPECT_FALSE(std::filesystem::exists(options_.path));
  auto lines = lines_of(path);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1]["raw"], "before");
  EXPECT_EQ(lines[2]["agent"], "player:P01");
  EXPECT_EQ(lines[2]["first_seq"], 2);
  EXPECT_EQ(lines[3]["raw"], "after");
  EXPECT_EQ(log->path(), path);
}

TEST_F(AuditLogTest, CountsWhatComesAfterClosing) {
  auto log = open();
  log->close();
  log->append(record_saying("late"));
  EXPECT_EQ(log->state().lost, 1U);
}

/// A disk that is full while `full` is true, and takes at most 10 bytes at a time.
class FullDisk final : public LogFiles {
 public:
  std::atomic<bool> full{true};
  std::atomic<int> refused{0};
  std::atomic<std::uint64_t> left{1 << 30};
  std::shared_ptr<std::string> text = std::make_shared<std::string>();

  core::Result<std::unique_ptr<LogFile>> create(const std::filesystem::path&) override {
    return std::unique_ptr<LogFile>(std::make_unique<File>(*this));
  }
  core::Result<void> replace(const std::filesystem::path&, std::string_view) override { return {}; }
  std::uint64_t free_space(const std::filesystem::path&) const override { return left; }

 private:
  struct File final : LogFile {
    explicit File(FullDisk& owner) : disk(owner) {}
    core::Result<std::size_t> write(std::string_view bytes) override {
      if (disk.full) {
        ++disk.refused;
        return core::Error{core::ErrorCode::kInternalError, "No space left on device", {}};
      }
      std::size_t part = std::min<std::size_t>(bytes.size(), 10);
      disk.text->append(bytes.substr(0, part));
      return part;
    }
    core::Result<void> sync() override { return {}; }
    FullDisk& disk;
  };
};

TEST_F(AuditLogTest, WaitsForAFullDiskAndSaysSo) {
  auto disk = std::make_shared<FullDisk>();
  options_.files = disk;
  options_.retry_delay = 1ms;
  auto log = open();
  log->append(record_saying("patience"));
  EXPECT_FALSE(log->flush(20ms));
  EXPECT_FALSE(log->healthy());
  EXPECT_FALSE(log->free_space_ok());
  EXPECT_EQ(log->state().problem, "No space left on device");
  disk->full = false;
  EXPECT_TRUE(log->flush(10s));
  EXPECT_TRUE(log->healthy());
  EXPECT_TRUE(log->free_space_ok());
  log->close();
  EXPECT_NE(disk->text->find("patience"), std::string::npos);
  EXPECT_EQ(log->state().lost, 0U);
}

TEST_F(AuditLogTest, GivesUpOnAFullDiskOnlyWhenItIsClosedAndCountsTheLoss) {
  auto disk = std::make_shared<FullDisk>();
  options_.files = disk;
  options_.retry_delay = 1ms;
  options_.close_limit = 20ms;
  auto log = open();
  log->append(record_saying("lost"));
  log->close();
  EXPECT_EQ(log->state().lost, 1U);
  EXPECT_GT(disk->refused, 0);
}

TEST_F(AuditLogTest, AFullDiskOfOneLogHoldsUpNoOther) {
  auto disk = std::make_shared<FullDisk>();
  auto healthy_options = options_;
  options_.writer = healthy_options.writer = std::make_shared<LogWriter>();
  options_.files = disk;
  options_.retry_delay = 1ms;
  healthy_options.path = directory_ / "agents" / "tmp_2.log.jsonl";
  auto full = open();
  auto healthy = std::move(AuditLog::open(healthy_options, time_)).value();
  full->append(record_saying("must wait"));
  for (int i = 0; i < 100; ++i) {
    healthy->append(record_saying("passes"));
    ASSERT_TRUE(healthy->flush(10s));
  }
  EXPECT_FALSE(full->healthy());
  EXPECT_TRUE(healthy->healthy());
  disk->full = false;
  EXPECT_TRUE(full->flush(10s));
  EXPECT_NE(disk->text->find("must wait"), std::string::npos);
  EXPECT_EQ(healthy->state().records, 100U);
}

TEST_F(AuditLogTest, MovesWhenTheDiskTakesDataAgain) {
  auto disk = std::make_shared<FullDisk>();
  options_.files = disk;
  options_.retry_delay = 1ms;
  auto log = open();
  // FullDisk makes no files; what is renamed must be there.
  std::filesystem::create_directories(options_.path.parent_path());
  std::ofstream(options_.path) << "x";
  log->append(record_saying("before"));
  auto path = *agent_log_path(directory_, "P01");
  EXPECT_FALSE(log->retarget(path, "player:P01", {"league_1"}, 10ms));
  disk->full = false;
  EXPECT_TRUE(log->flush(10s));
  log->close();
  EXPECT_EQ(log->path(), path);
  EXPECT_LT(disk->text->find("before"), disk->text->find("player:P01"));
}

TEST_F(AuditLogTest, ManyLogsShareOneThreadAndItsWakeUps) {
  auto writer = std::make_shared<LogWriter>();
  std::vector<std::unique_ptr<AuditLog>> logs;
  for (int i = 0; i < 32; ++i) {
    options_.writer = writer;
    options_.path = directory_ / ("tmp_" + std::to_string(i) + ".log.jsonl");
    logs.push_back(open());
  }
  ASSERT_TRUE(logs[0]->flush(10s));
  std::uint64_t before = writer->rounds();
  for (int i = 0; i < 5; ++i) {
    for (auto& log : logs) log->append(record_saying("hello"));
  }
  for (auto& log : logs) ASSERT_TRUE(log->flush(10s));
  // 32 flushes may each cost one; 160 records do not.
  EXPECT_LE(writer->rounds() - before, 40U);
  for (auto& log : logs) {
    log->close();
    EXPECT_EQ(log->state().records, 5U);
  }
}

TEST_F(AuditLogTest, NoMatchStartsBelowTheLimitOfFreeDisk) {
  auto disk = std::make_shared<FullDisk>();
  disk->full = false;
  options_.files = disk;
  options_.min_free_bytes = 1000;
  auto log = open();
  disk->left = 1000;
  EXPECT_TRUE(log->free_space_ok());
  disk->left = 999;
  time_.advance(100ms);
  EXPECT_FALSE(log->free_space_ok());
  disk->left = 1000;
  time_.advance(100ms);
  EXPECT_TRUE(log->free_space_ok());
}

TEST_F(AuditLogTest, SaysWhyAFileCannotBeMade) {
  std::ofstream(directory_ / "agents") << "not a directory";
  auto log = AuditLog::open(options_, time_);
  ASSERT_FALSE(log);
  EXPECT_NE(log.error().message.find("tmp_1.log.jsonl"), std::string::npos);
}

TEST(LogPaths, AreMadeFromSafeNamesOnly) {
  EXPECT_EQ(*agent_log_path("logs", "P01"), "logs/agents/P01.log.jsonl");
  EXPECT_EQ(*league_log_path("logs", "league_2025_even_odd"),
            "logs/league/league_2025_even_odd/league.log.jsonl");
  for (std::string bad : {"", "..", "../P01", "a/b", "P 01", "P\n"}) {
    EXPECT_FALSE(agent_log_path("logs", bad)) << bad;
    EXPECT_FALSE(league_log_path("logs", bad)) << bad;
  }
  EXPECT_FALSE(agent_log_path("logs", std::string(129, 'a')));
}

}  // namespace
}  // namespace league::audit::log
