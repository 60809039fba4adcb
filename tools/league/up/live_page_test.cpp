#include "tools/league/up/live_page.h"

#include <gtest/gtest.h>

namespace league::tools {
namespace {

TEST(LivePage, IsAtTheManagersOwnPort) {
  EXPECT_EQ(live_page_of("http://localhost:8000/mcp"), "http://localhost:8000/");
  EXPECT_EQ(live_page_of("ws://localhost:8000/mcp"), "http://localhost:8000/");
  EXPECT_EQ(live_page_of("ws://[::1]:8000/mcp"), "http://[::1]:8000/");
  EXPECT_EQ(live_page_of("https://league.example:443/mcp"), "https://league.example:443/");
}

TEST(LivePage, IsNowhereWithoutHttp) {
  for (const char* url : {"tcp://localhost:8000", "unix:/run/manager.sock", "", "no url"})
    EXPECT_EQ(live_page_of(url), "") << url;
}

TEST(LivePage, InvitesPeopleToAnAddressThatTheyCanReach) {
  UpOptions options;
  options.seats = 2;
  const std::string manager = "http://127.0.0.1:8000/mcp";
  EXPECT_EQ(invitation_to_play(options, manager, true),
            (std::vector<std::string>{
                "play at http://127.0.0.1:8000/play (2 seats); the league starts when all seats "
                "are taken",
                "only browsers on this machine reach this address; for others start with --bind "
                "0.0.0.0"}));
  options.bind_address = "10.0.0.5";
  const auto open = invitation_to_play(options, manager, true);
  EXPECT_TRUE(open.front().starts_with("play at http://10.0.0.5:8000/play (2 seats)"));
  EXPECT_EQ(open.size(), 18U) << "with a QR code";
  EXPECT_EQ(invitation_to_play(options, manager, false).size(), 1U);
  options.bind_address = "0.0.0.0";
  EXPECT_EQ(invitation_to_play(options, manager, false).front().find("127.0.0.1"),
            std::string::npos);
  options.advertise = "https://arena.example.org/mcp";
  EXPECT_TRUE(invitation_to_play(options, "https://arena.example.org:443/mcp", true)
                  .front()
                  .starts_with("play at https://arena.example.org:443/play"));
  EXPECT_TRUE(invitation_to_play(options, "tcp://localhost:8000", true)
                  .front()
                  .starts_with("warning: --seats needs a manager"));
}

}  // namespace
}  // namespace league::tools
