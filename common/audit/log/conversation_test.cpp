#include "common/audit/log/conversation.h"

#include <gtest/gtest.h>

namespace league::audit::log {
namespace {

LogEntry entry(std::string agent, bool outbound, std::string peer, std::string kind, int at_us,
               std::string raw) {
  LogEntry made;
  made.agent = std::move(agent);
  made.outbound = outbound;
  made.peer = std::move(peer);
  made.kind = std::move(kind);
  made.time = core::UtcTimestamp(core::UtcTimestamp::TimePoint(std::chrono::microseconds(at_us)));
  made.mono_ns = at_us * 1000;
  made.raw = std::move(raw);
  return made;
}

std::string story(const std::vector<LoggedMessage>& merged) {
  std::string text;
  for (const LoggedMessage& exchange : merged) {
    text += exchange.main().raw;
    text += exchange.sent && exchange.received ? "! " : exchange.sent ? "> " : "< ";
  }
  return text;
}

TEST(Conversation, MakesOneExchangeOfBothSidesRecords) {
  auto merged = merge_records(
      {entry("R", true, "P", "request", 10, "ask"), entry("P", false, "R", "request", 20, "ask"),
       entry("P", true, "R", "reply", 30, "yes"), entry("R", false, "P", "reply", 40, "yes")});
  EXPECT_EQ(story(merged), "ask! yes! ");
  EXPECT_EQ(merged[0].sent->agent, "R");
  EXPECT_EQ(merged[0].received->agent, "P");
  EXPECT_EQ(merged[1].sent->agent, "P");
}

TEST(Conversation, CausesStandBeforeEffectsWhateverTheClocksSay) {
  // P's clock is 1 ms slow, R's log has the reply of Q in between.
  auto merged = merge_records({entry("P", false, "R", "request", 20 - 1000 + 2000, "ask p"),
                               entry("P", true, "R", "reply", 2000 - 980, "p yes"),
                               entry("R", true, "P", "request", 2010, "ask p"),
                               entry("R", true, "Q", "request", 2011, "ask q"),
                               entry("R", false, "Q", "reply", 2015, "q yes"),
                               entry("R", false, "P", "reply", 2040, "p yes")});
  EXPECT_EQ(story(merged), "ask p! p yes! ask q> q yes< ");
}

TEST(Conversation, EqualInstantsPutTheRequestFirst) {
  auto merged = merge_records(
      {entry("P", true, "R", "reply", 10, "yes"), entry("P", false, "R", "request", 10, "ask")});
  EXPECT_EQ(story(merged), "ask< yes> ");
}

TEST(Conversation, EqualBytesToTwoPlayersArePairedByName) {
  auto merged = merge_records({entry("R", true, "P", "request", 10, "over"),
                               entry("R", true, "Q", "request", 11, "over"),
                               entry("Q", false, "R", "request", 12, "over"),
                               entry("P", false, "R", "request", 13, "over")});
  ASSERT_EQ(story(merged), "over! over! ");
  EXPECT_EQ(merged[0].received->agent, "P");
  EXPECT_EQ(merged[1].received->agent, "Q");
}

TEST(Conversation, ANewProcessComesAfterTheOldOneThoughItsClockBeganAnew) {
  auto before = entry("P", true, "R", "request", 5000, "before");
  auto after = entry("P", true, "R", "request", 6000, "after");
  after.segment = 2;
  after.mono_ns = 1;
  EXPECT_EQ(story(merge_records({after, before})), "before> after> ");
}

TEST(Conversation, ContradictoryLogsStillEnd) {
  // Each received what the other sent later: no order satisfies both.
  auto merged = merge_records(
      {entry("P", false, "R", "request", 1, "x"), entry("P", true, "R", "request", 2, "y"),
       entry("R", false, "P", "request", 1, "y"), entry("R", true, "P", "request", 2, "x")});
  std::size_t records = 0;
  for (const auto& exchange : merged)
    records += (exchange.sent ? 1U : 0U) + (exchange.received ? 1U : 0U);
  EXPECT_EQ(records, 4U);
}

}  // namespace
}  // namespace league::audit::log
