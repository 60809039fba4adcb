#include "common/audit/log/packed_log.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>

#include "common/audit/log/audit_log.h"
#include "common/audit/log/chain_verifier.h"
#include "common/audit/log/log_reader.h"
#include "common/audit/log/log_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

class PackedLog : public ::testing::Test {
 protected:
  void pack() {
    auto packer = SegmentPacker::begin(segment_);
    ASSERT_TRUE(packer) << packer.error().message;
    for (;;) {
      auto done = (*packer)->step(1000);
      ASSERT_TRUE(done) << done.error().message;
      if (*done) return;
    }
  }

  const league::testing::TemporaryDirectory temporary_;
  fs::path segment_ = temporary_.path() / "P01.log.000001.jsonl";
  fs::path packed_ = packed_path(segment_);
};

TEST_F(PackedLog, HoldsTheSameBytes) {
  std::string content;
  for (int i = 0; i < 5000; ++i) content += "line " + std::to_string(i) + "\n";
  write_bytes(segment_, content);
  pack();
  EXPECT_FALSE(fs::exists(segment_));
  EXPECT_FALSE(fs::exists(packed_.string() + ".new"));
  EXPECT_LT(fs::file_size(packed_), content.size() / 3);
  EXPECT_EQ(read_log_file(packed_), content);
  EXPECT_EQ(read_log_file(segment_), content);
  EXPECT_EQ(present_path(segment_), packed_);
}

TEST_F(PackedLog, AnEmptySegmentIsOneToo) {
  write_bytes(segment_, "");
  pack();
  EXPECT_EQ(read_log_file(packed_), "");
}

TEST_F(PackedLog, WhatIsInterruptedLeavesTheSegment) {
  write_bytes(segment_, std::string(5000, 'x'));
  {
    auto packer = SegmentPacker::begin(segment_);
    ASSERT_TRUE(packer);
    ASSERT_FALSE(*(*packer)->step(1000));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary_.path()), {}), 1);
  EXPECT_EQ(read_log_file(segment_), std::string(5000, 'x'));
}

TEST_F(PackedLog, AKillAtAnyMomentIsMadeGoodByTheNextOne) {
  write_bytes(segment_, "the segment\n");
  write_bytes(packed_, "of an earlier process, perhaps whole");
  write_bytes(packed_.string() + ".new", "half of it");
  EXPECT_EQ(read_log_file(segment_), "the segment\n");
  EXPECT_EQ(find_logs(temporary_.path()), std::vector{segment_});
  pack();
  EXPECT_EQ(read_log_file(segment_), "the segment\n");
  EXPECT_EQ(std::distance(fs::directory_iterator(temporary_.path()), {}), 1);
}

TEST_F(PackedLog, WhatIsNotOneWholeMemberIsNoLog) {
  write_bytes(segment_, "the segment\n");
  pack();
  const std::string packed = bytes_of(packed_);
  for (std::size_t size = 0; size < packed.size(); ++size) {
    write_bytes(packed_, packed.substr(0, size));
    ASSERT_EQ(read_log_file(packed_), std::nullopt) << size;
  }
  for (const std::string& more : {std::string("x"), std::string(1, '\0'), packed}) {
    write_bytes(packed_, packed + more);
    EXPECT_EQ(read_log_file(packed_), std::nullopt) << more.size();
  }
  std::string changed = packed;
  changed[packed.size() - 6] ^= 1;  // of the checksum
  write_bytes(packed_, changed);
  EXPECT_EQ(read_log_file(packed_), std::nullopt);
  write_bytes(packed_, "the segment\n");
  EXPECT_EQ(read_log_file(packed_), std::nullopt);
  EXPECT_FALSE(read_log(packed_, [](const LogEntry&) {}));
}

TEST_F(PackedLog, WhatCannotBeWrittenLeavesTheSegment) {
  write_bytes(segment_, "the segment\n");
  fs::create_directory(packed_.string() + ".new");
  EXPECT_FALSE(SegmentPacker::begin(segment_));
  EXPECT_EQ(read_log_file(segment_), "the segment\n");
  EXPECT_FALSE(SegmentPacker::begin(temporary_.path() / "none.jsonl"));
}

class CompressedLog : public ::testing::Test {
 protected:
  CompressedLog() {
    options_.path = temporary_.path() / "agents" / "P01.log.jsonl";
    options_.agent = "player:P01";
    options_.segment_bytes = 1000;
    options_.compress_from = 1000;
    options_.compress_pause = 0ms;
  }

  std::unique_ptr<AuditLog> open() { return std::move(AuditLog::open(options_, time_)).value(); }

  /// So many segments of one record each.
  void fill(AuditLog& log, int segments) {
    for (int i = 0; i < segments; ++i) {
      log.append(record_saying(std::string(1500, 'x')));
      ASSERT_TRUE(log.flush(10s));
    }
  }

  [[nodiscard]] VerifiedChain chain() const {
    auto logs = find_log_segments(temporary_.path());
    EXPECT_EQ(logs.size(), 1U);
    return verify_chain(logs.at(0));
  }

  league::testing::FakeTime time_;
  const league::testing::TemporaryDirectory temporary_;
  AuditLogOptions options_;
};

TEST_F(CompressedLog, ClosedSegmentsAreCompressedAndTheChainHolds) {
  auto log = open();
  fill(*log, 3);
  ASSERT_TRUE(log->wait_until_compressed(10s));
  log->close();
  for (int i = 1; i <= 3; ++i) {
    fs::path segment = segment_path(options_.path, i);
    EXPECT_FALSE(fs::exists(segment)) << i;
    EXPECT_TRUE(fs::exists(packed_path(segment))) << i;
  }
  auto verified = chain();
  EXPECT_TRUE(verified.faults.empty()) << verified.faults.at(0).text;
  EXPECT_EQ(verified.records, 3U);
  int records = 0;
  for (const auto& file : find_logs(temporary_.path())) {
    auto read = read_log(file, [&](const LogEntry&) { ++records; });
    EXPECT_TRUE(read);
  }
  EXPECT_EQ(records, 3);
}

TEST_F(CompressedLog, TheNextProcessGoesOnAndCompressesWhatIsLeft) {
  options_.compress_from = 0;
  fill(*open(), 2);
  EXPECT_TRUE(fs::exists(segment_path(options_.path, 1)));
  options_.compress_from = 1000;
  {
    auto log = open();  // the last file of the first process is smaller, and stays
    ASSERT_TRUE(log->wait_until_compressed(10s));
    fill(*log, 1);
  }
  EXPECT_TRUE(fs::exists(packed_path(segment_path(options_.path, 2))));
  EXPECT_TRUE(fs::exists(segment_path(options_.path, 3)));
  auto verified = chain();
  EXPECT_TRUE(verified.faults.empty()) << verified.faults.at(0).text;
  EXPECT_EQ(verified.records, 3U);
}

TEST_F(CompressedLog, WhereOnlyACompressedSegmentIsLeftTheNumbersGoOn) {
  {
    auto log = open();
    fill(*log, 1);
    ASSERT_TRUE(log->wait_until_compressed(10s));
  }
  fs::remove(options_.path);
  EXPECT_EQ(last_segment(options_.path), 1);
  EXPECT_EQ(log_end(segment_path(options_.path, 1))->seq, 1U);
}

TEST_F(CompressedLog, ACompressedSegmentThatIsMissingOrDamagedIsAFault) {
  auto log = open();
  fill(*log, 2);
  ASSERT_TRUE(log->wait_until_compressed(10s));
  log->close();
  fs::path first = packed_path(segment_path(options_.path, 1));
  std::string bytes = bytes_of(first);
  write_bytes(first, bytes.substr(0, bytes.size() / 2));
  ASSERT_FALSE(chain().faults.empty());
  EXPECT_EQ(chain().faults.at(0).rule, "file.unreadable");
  fs::remove(first);
  ASSERT_FALSE(chain().faults.empty());
  EXPECT_EQ(chain().faults.at(0).rule, "segment.missing");
}

TEST_F(CompressedLog, MovesToTheArchiveOfItsLeague) {
  options_.logs = temporary_.path();
  options_.league = {"cup", std::string(64, 'a'), true};
  {
    auto log = open();
    fill(*log, 1);
    ASSERT_TRUE(log->wait_until_compressed(10s));
  }
  options_.league = {"cup", std::string(64, 'b'), true};
  open()->close();
  fs::path archived = temporary_.path() / "archive" / "aaaaaaaa" / "agents";
  EXPECT_TRUE(fs::exists(archived / "P01.log.000001.jsonl.gz"));
  EXPECT_FALSE(fs::exists(packed_path(segment_path(options_.path, 1))));
  EXPECT_EQ(league_of_log(archived / "P01.log.000001.jsonl")->key, std::string(64, 'a'));
}

}  // namespace
}  // namespace league::audit::log
