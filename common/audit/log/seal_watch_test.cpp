#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <future>
#include <sstream>

#include "common/audit/log/audit_log.h"
#include "common/audit/log/chain_verifier.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

using namespace std::chrono_literals;

std::vector<std::string> raw_lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// Its turn comes only when the writer's thread has left every other log.
class WriterIsFree final : LogWriter::Client {
 public:
  explicit WriterIsFree(LogWriter& writer) : writer_(writer) {
    writer_.attach(*this);
    writer_.wake(*this);
    turn_.get_future().wait();
  }
  ~WriterIsFree() override { writer_.detach(*this); }
  WriterIsFree(const WriterIsFree&) = delete;
  WriterIsFree& operator=(const WriterIsFree&) = delete;

 private:
  std::optional<LogWriter::Time> serve() override {
    turn_.set_value();
    return std::nullopt;
  }

  LogWriter& writer_;
  std::promise<void> turn_;
};

/// A disk that accepts no byte while it is full.
class RefusingDisk final : public LogFiles {
 public:
  core::Result<std::unique_ptr<LogFile>> create(const std::filesystem::path& path) override {
    auto file = disk_->create(path);
    if (!file) return file.error();
    return std::unique_ptr<LogFile>(std::make_unique<File>(*this, std::move(*file)));
  }
  core::Result<void> replace(const std::filesystem::path& path, std::string_view text) override {
    return disk_->replace(path, text);
  }
  std::uint64_t free_space(const std::filesystem::path& path) const override {
    return disk_->free_space(path);
  }
  std::atomic<bool> is_full{false};

 private:
  struct File final : LogFile {
    File(RefusingDisk& owner, std::unique_ptr<LogFile> inner)
        : disk(owner), file(std::move(inner)) {}
    core::Result<std::size_t> write(std::string_view bytes) override {
      if (disk.is_full) return core::Error{core::ErrorCode::kInternalError, "no space left", {}};
      return file->write(bytes);
    }
    core::Result<void> sync() override { return file->sync(); }
    RefusingDisk& disk;
    std::unique_ptr<LogFile> file;
  };
  std::shared_ptr<LogFiles> disk_ = disk_files();
};

class SealWatchTest : public ::testing::Test {
 protected:
  SealWatchTest() {
    options_.path = path_;
    options_.agent = "player:P01";
    options_.writer = std::make_shared<LogWriter>(LogWriter::Options{.batch_delay = 1ms});
    options_.retry_delay = 1ms;
  }

  std::unique_ptr<AuditLog> open() { return std::move(AuditLog::open(options_, time_)).value(); }

  /// A record of `after` the beginning.
  static record::Record record_at(std::chrono::nanoseconds after) {
    record::Record record;
    record.mono = core::Clock::Steady(after);
    record.body = "body";
    return record;
  }

  [[nodiscard]] VerifiedChain verify() const {
    auto chain = verify_chain(find_log_segments(directory_).at(0));
    for (const auto& fault : chain.faults)
      ADD_FAILURE() << fault.line << ' ' << fault.rule << ' ' << fault.text;
    return chain;
  }

  /// Writes these lines without the seals among them, with new hashes; there is no seal file.
  void remove_seals(int version, std::string_view interval = {}) {
    record::LogChain chain;
    std::string text;
    for (const std::string& line : raw_lines_of(path_)) {
      if (line.starts_with("{\"seal\"")) continue;
      const std::size_t begin = text.size();
      std::string facts(record::chained_line(line)->covered);
      facts.resize(facts.rfind(",\"prev\":"));
      if (auto at = facts.find("\"version\":3"); at != facts.npos)
        facts.replace(at, 11, "\"version\":" + std::to_string(version));
      if (auto at = facts.find(",\"seal_interval_ms\":5000"); at != facts.npos)
        facts.replace(at, 24, interval);
      text += facts;
      chain.close_line(begin, text);
    }
    std::ofstream(path_, std::ios::binary) << text;
    std::filesystem::remove(seal_path(path_));
  }

  testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  std::filesystem::path path_ = *agent_log_path(directory_, "P01");
  AuditLogOptions options_;
};

TEST_F(SealWatchTest, RemovedSealsAreMissed) {
  for (const auto& [version, interval] :
       std::vector<std::pair<int, std::string>>{{3, ",\"seal_interval_ms\":5000"},
                                                {3, ",\"seal_interval_ms\":99999999999"},
                                                {3, ""},
                                                {2, ""}}) {
    std::filesystem::remove_all(directory_ / "agents");
    {
      auto log = open();
      for (int i = 0; i < 60; ++i) {
        log->append(record_at(i * 4s));
        ASSERT_TRUE(log->seal_now(10s));
      }
    }
    EXPECT_TRUE(verify().seal_gaps.empty());
    remove_seals(version, interval);
    const auto chain = verify();
    ASSERT_EQ(chain.seal_gaps.size(), 1U) << "one for each stretch without a seal";
    EXPECT_EQ(chain.seal_gaps[0].rule, "seal.absent");
    const bool is_long = interval.ends_with("99999999999");
    EXPECT_EQ(chain.seal_gaps[0].line, is_long ? 19U : 5U) << chain.seal_gaps[0].text;
  }
}

TEST_F(SealWatchTest, AFrozenProgramSaysThatItSealedLate) {
  // The writer has its turn only when it is asked for: all three are one batch.
  options_.writer = std::make_shared<LogWriter>(LogWriter::Options{.batch_delay = 1h});
  {
    auto log = open();
    log->append(record_at(0s));
    ASSERT_TRUE(log->flush(10s));
    const WriterIsFree free(*options_.writer);  // else it may take the next one by itself
    log->append(record_at(100s));
    log->append(record_at(130s));
    log->append(record_at(101s));
  }
  EXPECT_TRUE(verify().seal_gaps.empty());
  const auto lines = raw_lines_of(path_);
  ASSERT_EQ(lines.size(), 7U) << "header, four records, one note, the seal";
  EXPECT_TRUE(lines[2].starts_with("{\"note\":\"seal_delayed\",\"time\":\"")) << lines[2];
  EXPECT_NE(lines[2].find(R"("content":{"from":0,"to":130000000000},"prev":)"), std::string::npos)
      << lines[2];
  EXPECT_EQ(verify().records, 4U);
  EXPECT_TRUE(verify().notes.empty());
}

TEST_F(SealWatchTest, ANoteExcusesOnlyWhatItCovers) {
  {
    auto log = open();
    log->append(record_at(0s));
    ASSERT_TRUE(log->flush(10s));
    log->append(record_at(100s));
    ASSERT_TRUE(log->seal_now(10s));
    for (int i = 101; i < 130; i += 4) {
      log->append(record_at(i * 1s));
      ASSERT_TRUE(log->seal_now(10s));
    }
  }
  EXPECT_TRUE(verify().seal_gaps.empty());
  remove_seals(3, ",\"seal_interval_ms\":5000");
  EXPECT_EQ(verify().seal_gaps.size(), 1U);
}

TEST_F(SealWatchTest, AFullDiskIsNoAlarm) {
  auto disk = std::make_shared<RefusingDisk>();
  options_.files = disk;
  {
    auto log = open();
    log->append(record_at(0s));
    ASSERT_TRUE(log->flush(10s));
    disk->is_full = true;
    for (int i = 1; i < 40; ++i) {
      log->append(record_at(i * 3s));
      if (i % 10 == 0) (void)log->flush(5ms);
    }
    disk->is_full = false;
    ASSERT_TRUE(log->flush(10s));
    log->append(record_at(200s));
  }
  EXPECT_TRUE(verify().seal_gaps.empty());
}

TEST_F(SealWatchTest, ACallThatTakesLongIsNoAlarm) {
  {
    auto log = open();
    log->append(record_at(60s));
    log->append(record_at(0s));  // a request is written with its answer
    log->append(record_at(60s));
  }
  EXPECT_TRUE(verify().seal_gaps.empty());
}

TEST_F(SealWatchTest, AKilledProgramAndItsSuccessorAreNoAlarm) {
  auto log = open();
  log->append(record_at(0s));
  ASSERT_TRUE(log->flush(10s));
  const auto killed = raw_lines_of(path_);
  log->close();
  std::ofstream rest(path_, std::ios::binary);
  for (const auto& line : killed) rest << line << '\n';
  rest.close();
  std::filesystem::remove(seal_path(path_));
  {
    auto next = open();
    next->append(record_at(500s));
  }
  EXPECT_TRUE(verify().seal_gaps.empty());
}

TEST_F(SealWatchTest, NotesAreLinesWithoutANumber) {
  const std::string keys = R"({"keys":{"P01":["0123456789abcdef0123456789abcdef"]}})";
  {
    auto log = open();
    log->append(record_at(0s));
    log->append(record::note_of("receipt_keys", keys, time_));
    log->append(record_at(1s));
    ASSERT_TRUE(log->flush(10s));
    EXPECT_EQ(log->state().records, 2U);
  }
  const auto chain = verify();
  EXPECT_EQ(chain.records, 2U);
  EXPECT_EQ(chain.last_seq, 2U);
  EXPECT_EQ(chain.version, 3);
  ASSERT_EQ(chain.notes.size(), 1U);
  EXPECT_EQ(chain.notes[0].name, "receipt_keys");
  EXPECT_EQ(chain.notes[0].content, keys) << "not masked: the league is over";
  EXPECT_EQ(chain.notes[0].line, 3U);
  EXPECT_TRUE(chain.notes[0].is_sealed);
  EXPECT_EQ(log_end(path_)->seq, 2U);
}

TEST_F(SealWatchTest, WhatANoteLacksIsFound) {
  for (
      const std::string bad :
      {R"({"note":7,"time":"2025-01-15T10:30:00Z","mono_ns":1,"content":{})",
       R"({"note":"a","time":"2025-01-15T10:30:00Z","mono_ns":1,"content":[])",
       R"({"note":"a","time":"2025-01-15T10:30:00Z","mono_ns":"1","content":{})",
       R"({"note":"a","time":"now","mono_ns":1,"content":{})",
       R"({"note":"seal_delayed","time":"2025-01-15T10:30:00Z","mono_ns":1,"content":{"from":1})"}) {
    std::filesystem::remove_all(directory_ / "agents");
    open()->append(record_at(0s));
    std::string text;
    record::LogChain chain;
    const auto lines = raw_lines_of(path_);
    text = lines[0] + '\n' + bad;
    chain.go_on_from(std::string(record::chained_line(lines[0])->hash));
    chain.close_line(lines[0].size() + 1, text);
    std::ofstream(path_, std::ios::binary) << text;
    std::filesystem::remove(seal_path(path_));
    const auto found = verify_chain(find_log_segments(directory_).at(0));
    ASSERT_EQ(found.faults.size(), 1U) << bad;
    EXPECT_EQ(found.faults[0].rule, "line.kind");
  }
}

}  // namespace
}  // namespace league::audit::log
