#include "common/agent/runtime/operations_log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "common/agent/runtime/repeat_filter.h"

namespace league::agent::runtime {
namespace {

TEST(PrintableLine, LetsNothingReachTheTerminalThatIsNoText) {
  EXPECT_EQ(printable_line("plain, \xc3\xa4 and \xe2\x82\xac"), "plain, \xc3\xa4 and \xe2\x82\xac");
  EXPECT_EQ(printable_line("a\x1b[2J\nb\x7f"), "a?[2J?b?");
  EXPECT_EQ(printable_line("\xc2\x9b"
                           "31m"),
            "?31m")
      << "a C1 control begins a sequence as well";
  EXPECT_EQ(printable_line("x\xe2\x80\xaey\xe2\x81\xa6z\xe2\x80\xa8"), "x?y?z?");
  EXPECT_EQ(printable_line("cut \xe2\x80"), "cut ??");
  EXPECT_EQ(printable_line(std::string(5000, 'x')).size(), 2003U);
}

class RepeatFilterTest : public ::testing::Test {
 protected:
  void say(int second, const std::string& text, bool is_warning = true) {
    take(filter_.pass(RepeatFilter::Instant(std::chrono::seconds(1'736'937'000 + second)),
                      is_warning, {0, text}));
  }
  void take(const std::vector<RepeatFilter::Line>& lines) {
    for (const auto& line : lines) lines_.push_back(line.text);
  }

  RepeatFilter filter_;
  std::vector<std::string> lines_;
};

using Said = std::vector<std::string>;

TEST_F(RepeatFilterTest, AWarningThatRepeatsIsOneLineWithACount) {
  for (int i = 0; i < 50; ++i) say(i, "the bus is lost");
  EXPECT_EQ(lines_, Said{"the bus is lost"});
  say(61, "the bus is lost");
  EXPECT_EQ(lines_,
            (Said{"the bus is lost", "the bus is lost (49 more since 2025-01-15T10:30:00.000000Z)",
                  "the bus is lost"}));
}

TEST_F(RepeatFilterTest, WhatIsRepeatedIsToldInTheEnd) {
  say(0, "one");
  say(1, "one");
  take(filter_.take_all_counts());
  EXPECT_EQ(lines_, (Said{"one", "one (1 more since 2025-01-15T10:30:00.000000Z)"}));
}

TEST_F(RepeatFilterTest, OtherWarningsAndAllInformationPass) {
  say(0, "one");
  say(0, "two");
  say(0, "news", false);
  say(0, "news", false);
  EXPECT_EQ(lines_, (Said{"one", "two", "news", "news"}));
}

TEST_F(RepeatFilterTest, RemembersABoundedNumber) {
  for (int i = 0; i < 1000; ++i) say(0, std::to_string(i));
  for (int i = 0; i < 1000; ++i) say(0, std::to_string(i));
  EXPECT_EQ(lines_.size(), 1000U + (1000U - RepeatFilter::kMostKinds));
}

TEST_F(RepeatFilterTest, CountsWithinTheMessageOfAnEvent) {
  say(0, event_text("SLOW_BOT", "P01 is slow", {{"agent", "P01"}}));
  say(0, event_text("SLOW_BOT", "P01 is slow", {{"agent", "P01"}}));
  take(filter_.take_all_counts());
  ASSERT_EQ(lines_.size(), 2U);
  const auto line = nlohmann::json::parse(lines_[1]);
  EXPECT_EQ(line["event"], "SLOW_BOT");
  EXPECT_EQ(line["repeats"], 1);
  EXPECT_EQ(line["message"], "P01 is slow (1 more since 2025-01-15T10:30:00.000000Z)");
}

}  // namespace
}  // namespace league::agent::runtime
