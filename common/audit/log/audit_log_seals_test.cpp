#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <fstream>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>

#include "common/audit/log/audit_log.h"
#include "common/audit/log/log_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// The lines of a log after a check of the chain, which begins with `prev`; that is moved on.
std::vector<json> chain_of(const std::filesystem::path& path, std::string& prev) {
  std::vector<json> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    auto parts = record::chained_line(line);
    EXPECT_TRUE(parts) << line;
    EXPECT_EQ(parts->prev, prev);
    EXPECT_EQ(parts->hash, core::to_hex(core::sha256(parts->covered)));
    prev = parts->hash;
    lines.push_back(json::parse(line));
  }
  return lines;
}

class AuditLogSealsTest : public ::testing::Test {
 protected:
  AuditLogSealsTest() {
    options_.path = directory_ / "agents" / "tmp_1.log.jsonl";
    options_.agent = "player:alpha";
    options_.writer = std::make_shared<LogWriter>(LogWriter::Options{.batch_delay = 1ms});
  }

  std::unique_ptr<AuditLog> open() { return std::move(AuditLog::open(options_, time_)).value(); }

  static void expect_signed(const json& seal, const std::string& agent, const std::string& head,
                            const std::string& public_key) {
    record::Seal signed_seal{.agent = agent,
                             .seq = seal["seal"],
                             .time = *core::UtcTimestamp::parse(seal["time"].get<std::string>()),
                             .closed = seal.value("closed", false),
                             .head = head,
                             .signature = {}};
    EXPECT_TRUE(core::is_signature_of(public_key, signed_text(signed_seal),
                                      seal["signature"].get<std::string>()));
  }

  testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
  AuditLogOptions options_;
};

TEST_F(AuditLogSealsTest, ALogThatIsClosedEndsWithASeal) {
  auto log = open();
  log->append(record_saying("one"));
  log->append(record_saying("two"));
  log->close();
  std::string prev(record::kNoLine);
  auto lines = chain_of(options_.path, prev);
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0]["public_key"], log->public_key());
  json seal = lines.back();
  EXPECT_EQ(seal["seal"], 2);
  EXPECT_EQ(seal["closed"], true);
  expect_signed(seal, "player:alpha", seal["prev"], log->public_key());
  EXPECT_EQ(log->sealed_head(), (record::LogHead{2, seal["prev"]}));
  json kept = json::parse(std::ifstream(directory_ / "agents" / "tmp_1.seal.json"));
  EXPECT_EQ(kept["head"], seal["prev"]);
  EXPECT_EQ(kept["public_key"], log->public_key());
  expect_signed(kept, "player:alpha", kept["head"], log->public_key());
}

TEST_F(AuditLogSealsTest, SealsWhenItIsToldTo) {
  auto log = open();
  EXPECT_TRUE(log->seal_now(10s));
  log->append(record_saying("one"));
  ASSERT_TRUE(log->seal_now(10s));
  EXPECT_EQ(log->sealed_head()->seq, 1U);
  auto head = log->sealed_head();
  EXPECT_TRUE(log->seal_now(10s));  // there is nothing new
  EXPECT_EQ(log->sealed_head(), head);
  log->close();
  EXPECT_FALSE(log->seal_now(10s));
}

TEST_F(AuditLogSealsTest, TellsWhenItHasSealed) {
  auto log = open();
  std::promise<std::optional<record::LogHead>> sealed;
  log->append(record_saying("one"));
  log->seal_then([&] { sealed.set_value(log->sealed_head()); });
  auto head = sealed.get_future();
  ASSERT_EQ(head.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(head.get()->seq, 1U);
  bool is_told = false;
  log->seal_then([&] { is_told = true; });
  EXPECT_TRUE(is_told) << "at once, since there is nothing new";
  log->close();
  is_told = false;
  log->seal_then([&] { is_told = true; });
  EXPECT_TRUE(is_told);
}

TEST_F(AuditLogSealsTest, WithoutSealsTheLinesAreAsTheyWere) {
  options_.verifiable = false;
  auto log = open();
  log->append(record_saying("one"));
  log->close();
  std::ifstream file(options_.path);
  std::string text(std::istreambuf_iterator<char>(file), {});
  for (std::string part : {"seal", "prev", "hash", "sha256", "public_key"})
    EXPECT_EQ(text.find(part), text.npos) << part;
  EXPECT_EQ(log->sealed_head(), std::nullopt);
  EXPECT_FALSE(std::filesystem::exists(directory_ / "agents" / "tmp_1.seal.json"));
}

TEST_F(AuditLogSealsTest, TheChainGoesOnThroughSegmentsRestartsAndNames) {
  options_.segment_bytes = 4000;
  std::string p01 = *agent_log_path(directory_, "P01");
  for (int run = 0; run < 2; ++run) {
    auto log = open();
    log->append(record_saying("before"));
    ASSERT_TRUE(log->retarget(p01, "player:P01", {"league_1"}));
    for (int i = 0; i < 2; ++i) {
      log->append(record_saying(std::string(6000, 'x')));
      ASSERT_TRUE(log->flush(10s));
    }
    log->close();
  }
  std::string prev(record::kNoLine);
  std::string of_first_run;
  for (int segment = 1; segment <= 6; ++segment) {
    auto path = segment == 6 ? std::filesystem::path(p01) : segment_path(p01, segment);
    if (segment == 4) of_first_run = std::exchange(prev, std::string(record::kNoLine));
    auto lines = chain_of(path, prev);
    EXPECT_EQ(lines[0]["segment"], segment == 4 ? 1 : segment);
    EXPECT_TRUE(lines.back().contains("seal")) << segment;
    if (segment == 4) {
      EXPECT_EQ(lines[2]["continues"], of_first_run);
      EXPECT_EQ(lines[2]["segment"], 4);
      EXPECT_EQ(lines[2]["first_seq"], 4);
    }
  }
}

TEST_F(AuditLogSealsTest, AfterATornLineTheChainGoesOnFromTheLastWholeOne) {
  open()->append(record_saying("first run"));
  std::ofstream(options_.path, std::ios::app) << R"({"seq":2,"time":"20)";
  std::string hash = log_end(options_.path)->hash;
  open()->append(record_saying("second run"));
  chain_of(options_.path, hash);
}

/// A disk that remembers what was done to it, and whose fdatasync fails while told so.
class WatchedDisk final : public LogFiles {
 public:
  core::Result<std::unique_ptr<LogFile>> create(const std::filesystem::path&) override {
    return std::unique_ptr<LogFile>(std::make_unique<File>(*this));
  }
  core::Result<void> replace(const std::filesystem::path&, std::string_view) override {
    std::lock_guard lock(mutex_);
    note_locked(is_full_ ? "replace fails" : "replace");
    if (is_full_) return core::Error{core::ErrorCode::kInternalError, "no space left", {}};
    return {};
  }
  std::uint64_t free_space(const std::filesystem::path&) const override { return 1U << 30U; }

  void break_sync(bool broken) {
    std::lock_guard lock(mutex_);
    broken_ = broken;
  }
  /// For new files; the one that is open grows.
  void fill(bool is_full) {
    std::lock_guard lock(mutex_);
    is_full_ = is_full;
  }
  bool wait_for(const std::string& deed, int times = 1) {
    std::unique_lock lock(mutex_);
    return done_.wait_for(lock, 10s, [&] { return std::ranges::count(deeds_, deed) >= times; });
  }
  std::vector<std::string> deeds() {
    std::lock_guard lock(mutex_);
    return deeds_;
  }

 private:
  struct File final : LogFile {
    explicit File(WatchedDisk& owner) : disk(owner) {}
    core::Result<std::size_t> write(std::string_view bytes) override {
      disk.note(bytes.find("\"seal\":") != bytes.npos ? "write seal" : "write");
      return bytes.size();
    }
    core::Result<void> sync() override {
      std::unique_lock lock(disk.mutex_);
      bool broken = disk.broken_;
      lock.unlock();
      disk.note(broken ? "sync fails" : "sync");
      if (broken) return core::Error{core::ErrorCode::kInternalError, "I/O error", {}};
      return {};
    }
    WatchedDisk& disk;
  };

  void note(std::string deed) {
    std::lock_guard lock(mutex_);
    note_locked(std::move(deed));
  }
  void note_locked(std::string deed) {
    if (deeds_.empty() || deeds_.back() != deed) deeds_.push_back(std::move(deed));
    done_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable done_;
  std::vector<std::string> deeds_;
  bool broken_ = false;
  bool is_full_ = false;
};

TEST_F(AuditLogSealsTest, ASealIsWrittenAfterTheDiskHasWhatItCovers) {
  auto disk = std::make_shared<WatchedDisk>();
  options_.files = disk;
  options_.seal_interval = 1ms;
  auto log = open();
  log->append(record_saying("one"));
  ASSERT_TRUE(log->flush(10s));
  ASSERT_TRUE(disk->wait_for("replace", 2));
  auto deeds = disk->deeds();
  deeds.resize(5);
  EXPECT_EQ(deeds, (std::vector<std::string>{"write", "sync", "replace", "write seal", "replace"}))
      << "and the first time not before one stands beside the log";
}

TEST_F(AuditLogSealsTest, NoSealIsInTheLogBeforeOneStandsBesideIt) {
  auto disk = std::make_shared<WatchedDisk>();
  options_.files = disk;
  options_.seal_interval = 1ms;
  disk->fill(true);
  {
    auto log = open();
    log->append(record_saying("one"));
    ASSERT_TRUE(disk->wait_for("replace fails", 2));  // the first is known by then
    EXPECT_FALSE(log->healthy());
  }
  auto deeds = disk->deeds();
  EXPECT_EQ(std::ranges::find(deeds, "write seal"), deeds.end()) << "not at the end either";
  disk->fill(false);
  auto log = open();
  ASSERT_TRUE(disk->wait_for("write seal"));
}

TEST_F(AuditLogSealsTest, WhatTheDiskRefusesIsNotSealed) {
  auto disk = std::make_shared<WatchedDisk>();
  options_.files = disk;
  options_.seal_interval = 1ms;
  disk->break_sync(true);
  auto log = open();
  log->append(record_saying("one"));
  ASSERT_TRUE(disk->wait_for("sync fails"));
  EXPECT_EQ(log->sealed_head(), std::nullopt);
  log->close();
  EXPECT_EQ(log->state().problem, "I/O error");
  EXPECT_EQ(log->state().lost, 0U);
  auto deeds = disk->deeds();
  EXPECT_EQ(std::ranges::find(deeds, "write seal"), deeds.end());
}

}  // namespace
}  // namespace league::audit::log
