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

}  // namespace
}  // namespace league::tools
