#include "common/core/comparable_address.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

std::string text(std::string_view url) { return ComparableAddress::parse(url).text(); }

TEST(ComparableAddress, LoopbackHasOneName) {
  for (const char* url :
       {"http://localhost:8101/mcp", "HTTP://LocalHost:8101/mcp", "http://127.0.0.1:8101/mcp",
        "http://[::1]:8101/mcp", "http://[0:0:0:0:0:0:0:1]:8101/mcp",
        "http://[::ffff:127.0.0.1]:8101/mcp", "http://localhost:8101/mcp/"}) {
    EXPECT_EQ(text(url), "http://localhost:8101/mcp") << url;
  }
  EXPECT_EQ(text("http://127.0.0.2:8101/mcp"), "http://127.0.0.2:8101/mcp")
      << "another address, at which another program may listen";
}

TEST(ComparableAddress, SaysPortsAndShortensAddresses) {
  EXPECT_EQ(text("http://Bots.Example.org"), "http://bots.example.org:80");
  EXPECT_EQ(text("http://bots.example.org:80/"), "http://bots.example.org:80");
  EXPECT_EQ(text("wss://bots.example.org/mcp"), "wss://bots.example.org:443/mcp");
  EXPECT_EQ(text("http://[::ffff:10.1.2.3]/mcp"), "http://10.1.2.3:80/mcp");
  EXPECT_EQ(text("http://[2001:DB8:0:0::1]:80/x"), text("http://[2001:db8::1]/x"));
}

TEST(ComparableAddress, TellsApartWhatIsNotTheSame) {
  const std::string url = "http://bots.example.org:8101/mcp";
  for (const char* other :
       {"http://bots.example.org:8102/mcp", "http://bots.example.org:8101/MCP",
        "http://bots.example.org.:8101/mcp", "https://bots.example.org:8101/mcp",
        "http://bots.example.org:8101/mcp?bot=2", "http://bots.example.org:8101/mcp//"}) {
    EXPECT_NE(text(url), text(other)) << other;
  }
}

TEST(ComparableAddress, LeavesWhatHasNoHostAsItIs) {
  EXPECT_EQ(text("unix:/run/Bot.sock"), "unix:/run/Bot.sock");
  EXPECT_EQ(text("STDIO:python3 Bot.py"), "stdio:python3 Bot.py");
  EXPECT_EQ(text("nats:manager/league_a"), "nats:manager/league_a");
  EXPECT_NE(text("nats:manager"), text("nats:manager/league_a"));
  for (const char* odd : {"", ":", "http:", "http://", "http://[::1", "http://:", "plain"})
    EXPECT_EQ(text(odd), text(odd)) << odd;
}

TEST(ComparableAddress, NeighboursAreOnThisMachineAndDifferInThePortOnly) {
  auto at = [](std::string_view url) { return ComparableAddress::parse(url); };
  EXPECT_TRUE(at("http://localhost:8000/mcp").is_local_neighbour_of(at("http://[::1]:9000/mcp/")));
  EXPECT_FALSE(at("http://localhost:8000/mcp").is_local_neighbour_of(at("http://localhost:8000/")));
  EXPECT_FALSE(
      at("http://localhost:8000/mcp").is_local_neighbour_of(at("ws://localhost:8000/mcp")));
  EXPECT_FALSE(
      at("http://10.0.0.1:8000/mcp").is_local_neighbour_of(at("http://10.0.0.1:9000/mcp")));
  EXPECT_FALSE(at("unix:/a").is_local_neighbour_of(at("unix:/a")));
}

}  // namespace
}  // namespace league::core
