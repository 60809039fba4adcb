#include "common/agent/host/serving.h"

#include <gtest/gtest.h>

#include "common/agent/host/program_options.h"

namespace league::agent::host {
namespace {

TEST(Serving, EveryNameIsReadBack) {
  for (Serving serving : kAllServings) EXPECT_EQ(parse_serving(serving_name(serving)), serving);
  EXPECT_EQ(parse_serving("pigeon"), std::nullopt);
  EXPECT_EQ(serving_names(), "http, sse, websocket, tcp, unix, stdio, outward");
}

TEST(Serving, TheContactEndpointNamesTheWayIn) {
  auto of = [](Serving serving, const std::string& bind = "127.0.0.1") {
    return contact_endpoint_of(serving, bind, 8101, "/run/league/../bot.sock");
  };
  EXPECT_EQ(of(Serving::kHttp), "http://127.0.0.1:8101/mcp");
  EXPECT_EQ(of(Serving::kEventStream), "http://127.0.0.1:8101/mcp");
  EXPECT_EQ(of(Serving::kWebSocket), "ws://127.0.0.1:8101/mcp");
  EXPECT_EQ(of(Serving::kTcp), "tcp://127.0.0.1:8101");
  EXPECT_EQ(of(Serving::kUnix), "unix:/run/bot.sock");
  EXPECT_EQ(of(Serving::kStdio), "");
  EXPECT_EQ(of(Serving::kTcp, "10.0.0.7"), "tcp://10.0.0.7:8101");
  EXPECT_EQ(of(Serving::kHttp, "fd00::7"), "http://[fd00::7]:8101/mcp");
}

TEST(Serving, AProgramServesTheHostThatItAnnounces) {
  ProgramOptions options;
  options.allow_hosts = {"arena"};
  EXPECT_EQ(options.listen_options({}, 0, {}).http.allow_hosts, std::vector<std::string>{"arena"});
  options.advertise = "https://League.example.org/mcp";
  EXPECT_EQ(options.listen_options({}, 0, {}).http.allow_hosts,
            (std::vector<std::string>{"arena", "league.example.org"}));
  options.advertise = "http://[fd00::7]:8000/mcp";
  EXPECT_EQ(options.listen_options({}, 0, {}).http.allow_hosts,
            (std::vector<std::string>{"arena", "[fd00::7]"}));
  options.advertise = "no URL";
  EXPECT_EQ(options.listen_options({}, 0, {}).http.allow_hosts, std::vector<std::string>{"arena"});
}

TEST(Serving, SeveralAgentsOfAProcessHaveASocketEach) {
  EXPECT_EQ(numbered_socket("/run/bot.sock", 0, 1), "/run/bot.sock");
  EXPECT_EQ(numbered_socket("/run/bot.sock", 2, 3), "/run/bot-3.sock");
}

}  // namespace
}  // namespace league::agent::host
