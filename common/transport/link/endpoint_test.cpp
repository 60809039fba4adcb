#include "common/transport/link/endpoint.h"

#include <gtest/gtest.h>

namespace league::transport::link {
namespace {

TEST(Endpoint, TakesUrlsApart) {
  auto endpoint = parse_endpoint("HTTP://LocalHost:8101/mcp");
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->scheme, "http");
  EXPECT_EQ(endpoint->host, "localhost");
  EXPECT_EQ(endpoint->port, 8101);
  EXPECT_EQ(endpoint->path, "/mcp");
  EXPECT_EQ(endpoint->url(), "http://localhost:8101/mcp");
}

TEST(Endpoint, KnowsDefaultsAndIpv6) {
  EXPECT_EQ(parse_endpoint("http://a")->port, 80);
  EXPECT_EQ(parse_endpoint("https://a")->port, 443);
  EXPECT_EQ(parse_endpoint("http://a")->path, "/");
  EXPECT_EQ(parse_endpoint("http://a?x=1")->path, "/?x=1");
  auto v6 = parse_endpoint("http://[::1]:9/mcp");
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->authority(), "[::1]:9");
}

TEST(Endpoint, EverySchemeSurvivesItsText) {
  for (std::string url : {"http://a:1/mcp", "https://a:443/", "ws://a:80/mcp", "wss://[::1]:443/",
                          "tcp://127.0.0.1:9000", "tcp://[::1]:9000", "unix:/run/a.sock",
                          "stdio:python3 bot.py --name 'a b'"}) {
    auto endpoint = parse_endpoint(url);
    ASSERT_TRUE(endpoint) << url << " " << endpoint.error().message;
    EXPECT_EQ(endpoint->url(), url);
    EXPECT_EQ(*parse_endpoint(endpoint->url()), *endpoint);
  }
  EXPECT_EQ(parse_endpoint("WSS://a")->port, 443);
  EXPECT_EQ(parse_endpoint("STDIO: ls  -l")->url(), "stdio:ls  -l");
  EXPECT_EQ(parse_endpoint("tcp://a:1/")->url(), "tcp://a:1");
  EXPECT_EQ(parse_endpoint("unix:/a/b")->path, "/a/b");
}

TEST(Endpoint, HttpWithSseIsNoWayToCallAnAgent) {
  const auto refused = parse_endpoint("sse+http://a:2/sse");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("http, https, ws, wss or tcp"), std::string::npos);
}

TEST(Endpoint, KnowsWhatKindASchemeIs) {
  EXPECT_TRUE(is_http(*parse_endpoint("https://a/")));
  EXPECT_FALSE(is_http(*parse_endpoint("ws://a/")));
  EXPECT_TRUE(is_tls(*parse_endpoint("wss://a/")));
  EXPECT_FALSE(is_tls(*parse_endpoint("tcp://a:1")));
  EXPECT_TRUE(has_host(*parse_endpoint("tcp://a:1")));
  EXPECT_FALSE(has_host(*parse_endpoint("unix:/a")));
  EXPECT_TRUE(parse_endpoint("stdio:a")->authority().empty());
}

TEST(Endpoint, RefusesMalformedLinesEndpoints) {
  for (std::string url :
       {"tcp://a", "tcp://a:1/x", "tcp://a:1?x", "tcp:a:1", "tcp://", "unix:", "unix:/", "unix:a",
        "unix://a", "unix:/a/", "unix:/a/../b", "unix:/a/..", "unix:/a b",
        "stdio:", "stdio:  ", "stdio:a\nb", "stdio:\xc3\xa4", "sse://a/", "wss+http://a/"}) {
    auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed) << url;
  }
  EXPECT_FALSE(parse_endpoint("stdio:" + std::string(251, 'x')));
  EXPECT_TRUE(parse_endpoint("stdio:" + std::string(250, 'x')));
}

TEST(Endpoint, ABusHasSessionsAndAManager) {
  for (std::string url :
       {"nats:manager", "nats:manager/league_2026", "nats:manager/a.b-c_d", "nats:manager1",
        "nats:0123456789abcdef0123456789abcdef", "nats:Bot-p_01"}) {
    auto endpoint = parse_endpoint(url);
    ASSERT_TRUE(endpoint) << url << " " << endpoint.error().message;
    EXPECT_EQ(endpoint->scheme, "nats");
    EXPECT_EQ(endpoint->path, url.substr(5));
    EXPECT_TRUE(endpoint->host.empty());
    EXPECT_TRUE(endpoint->authority().empty());
    EXPECT_EQ(endpoint->url(), url);
    EXPECT_EQ(*parse_endpoint(endpoint->url()), *endpoint);
    EXPECT_FALSE(has_host(*endpoint));
    EXPECT_FALSE(is_tls(*endpoint));
  }
  EXPECT_EQ(parse_endpoint("NATS:Bot-p_01")->url(), "nats:Bot-p_01");
}

TEST(Endpoint, NothingButASessionsNameBecomesAPartOfASubject) {
  for (std::string url : {"nats:",
                          "nats:p01",
                          "nats:1234567",
                          "nats://broker:4222",
                          "nats:/session-1",
                          "nats:session-1/",
                          "nats:session-*",
                          "nats:session->",
                          "nats:session.one",
                          "nats:session 1",
                          "nats:session\t1",
                          "nats:session-1\r\n",
                          "nats:sessi\xc3\xb6n-1",
                          "nats:session:1",
                          "nats:session-1?x=1",
                          "nats:session-1#a",
                          "nats:user@session-1",
                          "nats:manager/",
                          "nats:manager/*",
                          "nats:manager/>",
                          "nats:manager/a b",
                          "nats:manager/a/b",
                          "nats:manager/\xc3\xa4",
                          "nats:manager.league",
                          "nats:Manager",
                          "nats:other/league_a"}) {
    auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed) << url;
  }
  EXPECT_TRUE(parse_endpoint("nats:" + std::string(64, 'x')));
  EXPECT_FALSE(parse_endpoint("nats:" + std::string(65, 'x')));
  EXPECT_FALSE(parse_endpoint("nats:manager/" + std::string(244, 'x')));
}

TEST(Endpoint, RefusesWhatIsNoHttpUrl) {
  for (std::string url :
       {"", "localhost:80", "ftp://a/", "file:///etc/passwd", "http://", "http://:80/",
        "http://a:0/", "http://a:65536/", "http://a:8x/", "http://a:/", "http://u:p@a/",
        "http://a/#f", "http://a b/", "http://a/\r\nX: y", "http://[::1/", "http://[::1]x/",
        "http://a%00b/", "http://\xc3\xa4/"}) {
    auto endpoint = parse_endpoint(url);
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed) << url;
  }
  EXPECT_FALSE(parse_endpoint("http://a/" + std::string(256, 'x')));
  // Its own text has the port, and must be one as well.
  EXPECT_FALSE(parse_endpoint("wss://a/" + std::string(246, 'x')));
}

TEST(Endpoint, HidesUserInformationInItsText) {
  EXPECT_EQ(parse_endpoint("http://me:secret@a/").error().message.find("secret"),
            std::string::npos);
}

}  // namespace
}  // namespace league::transport::link
