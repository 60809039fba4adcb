#include "common/transport/link/sse_parser.h"

#include <gtest/gtest.h>

#include <vector>

namespace league::transport::link {
namespace {

using std::chrono::milliseconds;

struct Read {
  std::vector<SseEvent> events;
  std::string last_event_id;
  std::string fault;
};

/// Feeds `text` in pieces of `size` bytes.
Read read(std::string_view text, std::size_t size = 1000000, const SseLimits& limits = {}) {
  SseParser parser(limits);
  Read out;
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) {
    bool is_fine = parser.feed(text.substr(0, size),
                               [&](SseEvent event) { out.events.push_back(std::move(event)); });
    EXPECT_EQ(is_fine, parser.fault().empty());
  }
  out.last_event_id = parser.last_event_id();
  out.fault = parser.fault();
  return out;
}

std::string data_of(const Read& result) {
  std::string all;
  for (const auto& event : result.events) all += event.type + "=" + event.data + "|";
  return all;
}

/// The same in one piece, byte by byte, and in pieces of 2 and 3.
std::string data_of(std::string_view text) {
  std::string whole = data_of(read(text));
  for (std::size_t size : {1U, 2U, 3U}) EXPECT_EQ(data_of(read(text, size)), whole) << size;
  return whole;
}

TEST(SseParser, ReadsAnEvent) {
  auto result = read("event: endpoint\nid: 7\nretry: 250\ndata: /messages?x=1\n\n");
  ASSERT_EQ(result.events.size(), 1U);
  const auto& event = result.events.front();
  EXPECT_EQ(event.type, "endpoint");
  EXPECT_EQ(event.data, "/messages?x=1");
  EXPECT_EQ(event.id, "7");
  EXPECT_EQ(event.retry, milliseconds(250));
  EXPECT_EQ(result.last_event_id, "7");
}

TEST(SseParser, TakesEachKindOfLineEnd) {
  EXPECT_EQ(data_of("data:a\n\ndata:b\n\n"), "message=a|message=b|");
  EXPECT_EQ(data_of("data:a\r\rdata:b\r\r"), "message=a|message=b|");
  EXPECT_EQ(data_of("data:a\r\n\r\ndata:b\r\n\r\n"), "message=a|message=b|");
  EXPECT_EQ(data_of("data:a\r\n\rdata:b\n\r\n"), "message=a|message=b|");
}

TEST(SseParser, DispatchesAtACarriageReturnWithoutWaitingForMore) {
  EXPECT_EQ(read("data:a\r\r").events.size(), 1U);
}

TEST(SseParser, JoinsLinesOfData) {
  EXPECT_EQ(data_of("data: a\ndata:  b\ndata\ndata:\ndata:c\n\n"), "message=a\n b\n\n\nc|");
  EXPECT_EQ(data_of("data\n\n"), "message=|");
  EXPECT_EQ(data_of("data:\ndata:\n\n"), "message=\n|");
}

TEST(SseParser, SkipsMarkCommentsAndUnknownFields) {
  EXPECT_EQ(data_of("\xEF\xBB\xBF"
                    "data:a\n: a comment\nunknown: x\ndatax:b\n Data:c\n:\n\n"),
            "message=a|");
  EXPECT_EQ(data_of("\n\n\r\r\n:only this\n\n"), "");
}

TEST(SseParser, AMarkIsOnlyOneAtTheBeginningAndWhole) {
  EXPECT_EQ(data_of("data:a\n\n\xEF\xBB\xBF"
                    "data:b\n\n"),
            "message=a|");
  EXPECT_EQ(data_of("\xEF\xBB"
                    "data:b\ndata:c\n\n"),
            "message=c|");
}

TEST(SseParser, EventsWithoutDataAreNotSeenButTheirIdIs) {
  auto result = read("id: p0\nretry: 5\n\n");
  EXPECT_TRUE(result.events.empty());
  EXPECT_EQ(result.last_event_id, "p0");
  auto next = read("id: p0\nevent: gone\n\ndata: x\n\n");
  ASSERT_EQ(next.events.size(), 1U);
  EXPECT_EQ(next.events.front().type, "message");
  EXPECT_EQ(next.events.front().id, std::nullopt);
  EXPECT_EQ(next.last_event_id, "p0");
}

TEST(SseParser, AnIdCountsWhenItsEventEnds) {
  EXPECT_EQ(read("id: 1\ndata: x\n\nid: 2\ndata: y\n").last_event_id, "1");
  EXPECT_EQ(read("id: 1\n\nid\n\n").last_event_id, "");
  std::string with_nul("id: 1\n\nid: 2\0\n\n", 15);
  EXPECT_EQ(read(with_nul).last_event_id, "1");
}

TEST(SseParser, RetryIsDigitsOnly) {
  for (const char* bad : {"", "-1", "1.5", "0x10", " 5", "5 ", "1e3"}) {
    auto result = read("data:x\nretry: " + std::string(bad) + "\n\n");
    ASSERT_EQ(result.events.size(), 1U);
    EXPECT_EQ(result.events.front().retry, std::nullopt) << bad;
  }
  EXPECT_EQ(read("data:x\nretry:0012\n\n").events.front().retry, milliseconds(12));
  EXPECT_EQ(read("data:x\nretry:99999999999999999999999\n\n").events.front().retry,
            std::chrono::hours(24));
}

TEST(SseParser, PassesBytesOnWhateverTheyAre) {
  EXPECT_EQ(data_of("data: \xF0\x9F\x98\x80 \xFF\xC3\n\n"), "message=\xF0\x9F\x98\x80 \xFF\xC3|");
}

TEST(SseParser, DropsWhatTheEndCutsOff) { EXPECT_EQ(data_of("data:a\n\ndata:b\n"), "message=a|"); }

TEST(SseParser, StopsAtLongLines) {
  SseLimits limits{.max_line = 16, .max_event = 1000};
  for (std::size_t size : {1U, 7U, 1000U}) {
    EXPECT_TRUE(read("data: 0123456789\n\n", size, limits).fault.empty());
    auto result = read("data:a\n\n:0123456789abcdef\n\ndata:b\n\n", size, limits);
    EXPECT_EQ(data_of(result), "message=a|");
    EXPECT_NE(result.fault.find("longer than 16"), std::string::npos) << result.fault;
  }
}

TEST(SseParser, StopsAtLargeEvents) {
  SseLimits limits{.max_line = 100, .max_event = 10};
  EXPECT_EQ(data_of(read("data:12345\ndata:6789\n\n", 1000, limits)), "message=12345\n6789|");
  auto result = read("data:12345\ndata:67890\n\n", 1000, limits);
  EXPECT_TRUE(result.events.empty());
  EXPECT_NE(result.fault.find("larger than 10"), std::string::npos) << result.fault;
}

}  // namespace
}  // namespace league::transport::link
