#include "common/transport/endpoint.h"

#include <gtest/gtest.h>

namespace league::transport {
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
}

TEST(Endpoint, HidesUserInformationInItsText) {
  EXPECT_EQ(parse_endpoint("http://me:secret@a/").error().message.find("secret"),
            std::string::npos);
}

}  // namespace
}  // namespace league::transport
