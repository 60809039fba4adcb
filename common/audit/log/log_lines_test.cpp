#include "common/audit/log/log_lines.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "common/audit/log/chain_verifier.h"
#include "common/audit/log/log_reader.h"
#include "common/core/compression.h"
#include "tests/support/temporary_directory.h"

namespace league::audit::log {
namespace {

class LogLinesTest : public ::testing::Test {
 protected:
  /// What can be read of a file with this content, joined; and how it ended.
  std::pair<std::string, LogLines::Next> read(const std::string& content, bool is_packed,
                                              LogLines::Limits limits = {}) {
    std::filesystem::remove(plain_);
    std::filesystem::remove(packed_path(plain_));
    std::ofstream(is_packed ? packed_path(plain_) : plain_, std::ios::binary) << content;
    auto lines = LogLines::open(plain_, limits);
    if (!lines) return {"", LogLines::Next::kDamaged};
    std::string all;
    std::string_view line;
    auto next = lines->next(line);
    for (; next == LogLines::Next::kLine; next = lines->next(line)) all.append(line) += '|';
    if (next == LogLines::Next::kPart) all += line;
    return {all, next};
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path plain_ = temporary_.path() / "P01.log.000001.jsonl";
};

TEST_F(LogLinesTest, ReadsLinesOfAnyLengthFromBothKindsOfFile) {
  using Next = LogLines::Next;
  const std::string longer(200'000, 'x');
  for (const auto& [content, lines, end] : std::vector<std::tuple<std::string, std::string, Next>>{
           {"", "", Next::kEnd},
           {"a\n", "a|", Next::kEnd},
           {"a\n\nb", "a||b", Next::kPart},
           {longer + "\n" + longer + "\nc\n", longer + "|" + longer + "|c|", Next::kEnd}}) {
    EXPECT_EQ(read(content, false), std::pair(lines, end));
    EXPECT_EQ(read(core::compress(content), true), std::pair(lines, end));
  }
}

TEST_F(LogLinesTest, ALineThatNeverEndsIsAnErrorInBoundedMemory) {
  const LogLines::Limits limits{.line = 100'000, .content = 10'000'000};
  const std::string endless(5'000'000, 'x');
  EXPECT_EQ(read("a\n" + endless, false, limits),
            std::pair(std::string("a|"), LogLines::Next::kTooLong));
  EXPECT_EQ(read(core::compress("a\n" + endless), true, limits),
            std::pair(std::string(), LogLines::Next::kDamaged))
      << "nobody sees a part of it";
}

TEST_F(LogLinesTest, ACompressedFileOfTooMuchContentOrWithDamageIsNotOpened) {
  std::string lines;
  for (int i = 0; i < 10'000; ++i) lines += std::string(99, 'x') + '\n';
  const std::string packed = core::compress(lines);
  const LogLines::Limits exact{.line = 1000, .content = lines.size()};
  const LogLines::Limits less{.line = 1000, .content = lines.size() - 1};
  EXPECT_EQ(read(packed, true, exact).second, LogLines::Next::kEnd);
  for (const std::string& bad :
       {packed.substr(0, packed.size() - 1), packed.substr(0, 100), packed + "x", packed + packed,
        std::string("no gzip"), std::string()})
    EXPECT_EQ(read(bad, true, exact), std::pair(std::string(), LogLines::Next::kDamaged))
        << bad.size();
  EXPECT_EQ(read(packed, true, less), std::pair(std::string(), LogLines::Next::kDamaged));
}

TEST_F(LogLinesTest, TheReadersReportWhatTheyDidNotRead) {
  const auto packed = packed_path(plain_);
  std::ofstream(packed, std::ios::binary) << core::compress(std::string(20 << 20, 'x'));
  const LogSegments log{temporary_.path() / "P01.log.jsonl", {packed}};
  auto chain = verify_chain(log);
  ASSERT_EQ(chain.faults.size(), 1U);
  EXPECT_EQ(chain.faults[0].rule, "file.unreadable");
  EXPECT_FALSE(read_log(packed, [](const LogEntry&) {}));
  // A million empty lines are not a million faults in memory.
  std::ofstream(packed, std::ios::binary) << core::compress(std::string(1 << 20, '\n'));
  chain = verify_chain(log);
  EXPECT_LT(chain.faults.size(), 20'000U);
  EXPECT_EQ(chain.faults.back().rule, "file.unreadable");
}

}  // namespace
}  // namespace league::audit::log
