#include "common/agent/operations_log.h"

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/agent/repeat_filter.h"

namespace league::agent {
namespace {

TEST(PrintableLine, LetsNothingReachTheTerminalThatIsNoText) {
  EXPECT_EQ(printable_line("plain, \xc3\xa4 and \xe2\x82\xac"), "plain, \xc3\xa4 and \xe2\x82\xac");
  EXPECT_EQ(printable_line("a\x1b[2J\nb\x7f"), "a?[2J?b?");
  EXPECT_EQ(printable_line("\xc2\x9b"
                           "31m"),
            "?31m")
      << "a C1 control begins a sequence as well";
  EXPECT_EQ(printable_line("x\xe2\x80\xaey\xe2\x81\xa6z\xe2\x80\xa8"), "x?y?z?");
  EXPECT_EQ(printable_line("cut \xe2\x80"), "cut \xe2\x80");
  EXPECT_EQ(printable_line(std::string(5000, 'x')).size(), 2003U);
}

/// Remembers what reaches it.
class Lines final : public spdlog::sinks::sink {
 public:
  void log(const spdlog::details::log_msg& message) override {
    lines.emplace_back(message.payload.data(), message.payload.size());
  }
  void flush() override {}
  void set_pattern(const std::string& /*pattern*/) override {}
  void set_formatter(std::unique_ptr<spdlog::formatter> /*formatter*/) override {}

  std::vector<std::string> lines;
};

class RepeatFilterTest : public ::testing::Test {
 protected:
  void say(int second, const std::string& text,
           spdlog::level::level_enum level = spdlog::level::warn) {
    const spdlog::log_clock::time_point at{std::chrono::seconds(1'736'937'000 + second)};
    filter_->log(spdlog::details::log_msg(at, {}, "test", level, text));
  }

  std::shared_ptr<Lines> lines_ = std::make_shared<Lines>();
  std::unique_ptr<RepeatFilter> filter_ = std::make_unique<RepeatFilter>(lines_);
};

using Said = std::vector<std::string>;

TEST_F(RepeatFilterTest, AWarningThatRepeatsIsOneLineWithACount) {
  for (int i = 0; i < 50; ++i) say(i, "the bus is lost");
  EXPECT_EQ(lines_->lines, Said{"the bus is lost"});
  say(61, "the bus is lost");
  EXPECT_EQ(lines_->lines,
            (Said{"the bus is lost", "the bus is lost (49 more since 2025-01-15T10:30:00.000000Z)",
                  "the bus is lost"}));
}

TEST_F(RepeatFilterTest, WhatIsRepeatedIsToldInTheEnd) {
  say(0, "one");
  say(1, "one");
  filter_.reset();
  EXPECT_EQ(lines_->lines, (Said{"one", "one (1 more since 2025-01-15T10:30:00.000000Z)"}));
}

TEST_F(RepeatFilterTest, OtherWarningsAndAllInformationPass) {
  say(0, "one");
  say(0, "two");
  say(0, "news", spdlog::level::info);
  say(0, "news", spdlog::level::info);
  EXPECT_EQ(lines_->lines, (Said{"one", "two", "news", "news"}));
}

TEST_F(RepeatFilterTest, RemembersABoundedNumber) {
  for (int i = 0; i < 1000; ++i) say(0, std::to_string(i));
  for (int i = 0; i < 1000; ++i) say(0, std::to_string(i));
  EXPECT_EQ(lines_->lines.size(), 1000U + (1000U - RepeatFilter::kMostKinds));
}

TEST_F(RepeatFilterTest, CountsWithinTheMessageOfAnEvent) {
  say(0, event_text("SLOW_BOT", "P01 is slow", {{"agent", "P01"}}));
  say(0, event_text("SLOW_BOT", "P01 is slow", {{"agent", "P01"}}));
  filter_.reset();
  ASSERT_EQ(lines_->lines.size(), 2U);
  const auto line = nlohmann::json::parse(lines_->lines[1]);
  EXPECT_EQ(line["event"], "SLOW_BOT");
  EXPECT_EQ(line["repeats"], 1);
  EXPECT_EQ(line["message"], "P01 is slow (1 more since 2025-01-15T10:30:00.000000Z)");
}

}  // namespace
}  // namespace league::agent
