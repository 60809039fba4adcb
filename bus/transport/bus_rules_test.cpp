#include "bus/transport/bus.h"

#include <gtest/gtest.h>

#include <string>

namespace league::transport::bus {
namespace {

TEST(BusRules, OnlyPlainSubjectsArePublished) {
  for (const char* good : {"a", "a.b-c_d", "$JS.API.INFO", "_INBOX.x.1"}) {
    EXPECT_TRUE(check_bus_message({good, good, {}, ""}, 10)) << good;
  }
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a b", "a\tb", "a\r\nPUB b 0", "a.*", "a.>",
                          ">", "a*", "a\x7f", "\xc3\xa4"}) {
    auto checked = check_bus_message({bad, "", {}, ""}, 10);
    ASSERT_FALSE(checked) << bad;
    EXPECT_EQ(checked.error().field, "subject");
    if (*bad != '\0') {
      EXPECT_EQ(check_bus_message({"a", bad, {}, ""}, 10).error().field, "reply") << bad;
    }
  }
  EXPECT_FALSE(check_bus_message({std::string("a\0b", 3), "", {}, ""}, 10));
  EXPECT_FALSE(check_bus_message({std::string(1025, 'a'), "", {}, ""}, 10));
}

TEST(BusRules, WildcardsAreWholeTokensOfSubscriptions) {
  for (const char* good : {"a", "*", ">", "a.*.b", "a.*.>"}) {
    EXPECT_TRUE(check_bus_subscription(good, "")) << good;
  }
  for (const char* bad : {"", "a.>.b", "a*", "a.b>", "a. b", "a..b"}) {
    EXPECT_FALSE(check_bus_subscription(bad, "")) << bad;
  }
  EXPECT_TRUE(check_bus_subscription("a", "manager.league_1"));
  EXPECT_EQ(check_bus_subscription("a", "two words").error().field, "queue");
}

TEST(BusRules, HeadersCannotBreakTheFrame) {
  auto with = [](std::string name, std::string value) {
    return check_bus_message({"a", "", {{std::move(name), std::move(value)}}, ""}, 1000);
  };
  EXPECT_TRUE(with("Trace-Id", "any text: of one line"));
  EXPECT_TRUE(with("Empty", ""));
  for (const char* name : {"", "a b", "a:b", "a\r\nb", "a\n"})
    EXPECT_FALSE(with(name, "x")) << name;
  for (const char* value : {"a\rb", "a\nb", "\r\n"}) EXPECT_FALSE(with("a", value)) << value;
  EXPECT_FALSE(with("a", std::string("a\0b", 3)));
}

TEST(BusRules, ThePayloadsLimitIsForHeadersToo) {
  EXPECT_TRUE(check_bus_message({"a", "", {}, std::string(10, 'x')}, 10));
  auto checked = check_bus_message({"a", "", {}, std::string(11, 'x')}, 10);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, core::ErrorCode::kReplyTooLarge);
  // NATS/1.0, a line for `n: v`, the empty line.
  EXPECT_TRUE(check_bus_message({"a", "", {{"n", "v"}}, "x"}, 12 + 6 + 1));
  EXPECT_FALSE(check_bus_message({"a", "", {{"n", "v"}}, "x"}, 12 + 6));
}

TEST(BusRules, AHeaderIsFoundWhateverItsCase) {
  BusMessage message{"a", "", {{"Mcp-Session-Id", "s"}, {"MCP-SESSION-ID", "t"}}, ""};
  EXPECT_EQ(bus_header(message, "mcp-session-id"), "s");
  EXPECT_EQ(bus_header(message, "mcp-session"), "");
}

}  // namespace
}  // namespace league::transport::bus
