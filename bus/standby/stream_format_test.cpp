#include "bus/standby/stream_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace league::league_manager::stream {
namespace {

core::Digest digest(int seed) { return core::sha256(std::to_string(seed)); }

/// As the broker hands it out.
core::Result<Message> read_back(const Message& message) {
  auto sent = write_message("cup", 3, message);
  EXPECT_EQ(sent.subject, "mcp.journal.cup.3");
  sent.headers.emplace_back("Nats-Msg-Id", core::to_hex(message.id));
  return read_message(sent);
}

Message entries(int count, std::size_t size) {
  Message message{.kind = MessageKind::kEntries, .writer = "one-1a2b", .term = 7, .first = 12};
  message.last = message.first + static_cast<std::uint64_t>(count) - 1;
  for (int i = 0; i < count; ++i)
    message.records.push_back(
        {"ROUND_COMPLETED", std::string(size, 'x') + "\"\n\xc3\xa9" + std::to_string(i)});
  message.has_more = true;
  message.digest = digest(1);
  message.previous = digest(2);
  message.id = digest(3);
  return message;
}

TEST(StreamFormat, ReadsBackWhatItWrites) {
  EXPECT_EQ(*read_back(entries(3, 10)), entries(3, 10));
  Message claim{.kind = MessageKind::kClaim, .writer = "two-3c4d", .term = 8, .last = 14};
  claim.members = {"one-1a2b", "three-5e6f"};
  claim.lose_after = 14;
  claim.id = digest(4);
  EXPECT_EQ(*read_back(claim), claim);
}

TEST(StreamFormat, CompressesWhatIsLong) {
  const Message message = entries(200, 100);
  EXPECT_LT(write_message("cup", 3, message).payload.size(), 4'000U);
  EXPECT_EQ(*read_back(message), message);
}

TEST(StreamFormat, RefusesOtherMessages) {
  auto sent = write_message("cup", 3, entries(2, 10));
  EXPECT_FALSE(read_message(sent)) << "it has no id";
  sent.headers.emplace_back("Nats-Msg-Id", core::to_hex(digest(3)));
  EXPECT_TRUE(read_message(sent));
  for (const char* payload : {"", "hello", "[]", "{}", "\x1f\x8b", R"({"kind":"entries"})"}) {
    sent.payload = payload;
    EXPECT_FALSE(read_message(sent)) << payload;
  }
  Message fewer = entries(3, 10);
  fewer.records.pop_back();
  EXPECT_FALSE(read_back(fewer)) << "it has other entries than it says";
}

TEST(StreamFormat, ReadsBackHeartbeats) {
  const Heartbeat beat{.name = "one-1a2b",
                       .incarnation = 3,
                       .term = 7,
                       .is_leading = true,
                       .journal = {12, digest(1)},
                       .acknowledged = {11, digest(2)},
                       .members = {"two-3c4d"},
                       .sent = Time(1'795'000'000'123),
                       .heard = {{"two-3c4d", Time(99), true}}};
  const auto read = read_heartbeat(write_heartbeat(beat));
  ASSERT_TRUE(read);
  EXPECT_EQ(write_heartbeat(*read), write_heartbeat(beat));
  EXPECT_EQ(read->journal, beat.journal);
  EXPECT_EQ(read->heard.front().sent, Time(99));
  for (const char* payload : {"", "hello", "{}", R"({"name":"one"})"})
    EXPECT_FALSE(read_heartbeat(payload)) << payload;
}

}  // namespace
}  // namespace league::league_manager::stream
