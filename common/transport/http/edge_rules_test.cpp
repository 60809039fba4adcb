#include "common/transport/http/edge_rules.h"

#include <gtest/gtest.h>

namespace league::transport {
namespace {

/// The status with which a request is refused; 0: it is accepted.
int refusal(const EdgeRules& rules, const rpc::HeaderMap& headers, std::string_view local) {
  const auto refused = rules.check_peer(headers, "HTTP/1.1", local);
  return refused ? refused->status : 0;
}

TEST(EdgeRules, TheAddressAtWhichARequestArrivedIsAHostLikeLocalhost) {
  const EdgeRules rules{HttpServerOptions{}};
  EXPECT_EQ(refusal(rules, {{"Host", "10.0.0.5:8001"}}, "10.0.0.5:8001"), 0);
  EXPECT_EQ(refusal(rules, {{"Host", "10.0.0.5"}}, "10.0.0.5:8001"), 0);
  EXPECT_EQ(refusal(rules, {{"Host", "[fd00::5]:8001"}}, "[fd00::5]:8001"), 0);
  EXPECT_EQ(refusal(rules, {{"Host", "localhost"}}, "10.0.0.5:8001"), 0);
  // Another address, and names that may resolve to this one.
  for (const char* host : {"10.0.0.6:8001", "10.0.0.5.evil.example", "evil.example",
                           "10.0.0.5:port", "10.0.0.5@evil.example", "", ":8001", "[fd00::5]"}) {
    EXPECT_EQ(refusal(rules, {{"Host", host}}, "10.0.0.5:8001"), 403) << host;
    EXPECT_EQ(refusal(rules, {{"Host", host}}, ""), 403) << host;
  }
  EXPECT_EQ(refusal(rules, {}, "10.0.0.5:8001"), 400);
}

TEST(EdgeRules, APageFromThisAddressMayCallIt) {
  const EdgeRules rules{HttpServerOptions{}};
  auto of = [&](const char* origin) {
    return refusal(rules, {{"Host", "10.0.0.5:8001"}, {"Origin", origin}}, "10.0.0.5:8001");
  };
  EXPECT_EQ(of("http://10.0.0.5:8001"), 0);
  for (const char* origin : {"http://10.0.0.6:8001", "http://10.0.0.5:9000", "http://evil.example",
                             "https://10.0.0.5:8001", "null", ""})
    EXPECT_EQ(of(origin), 403) << origin;
}

TEST(EdgeRules, OtherNamesNeedToBeAllowed) {
  HttpServerOptions options;
  options.allow_hosts = {"arena.example.org"};
  const EdgeRules rules{options};
  EXPECT_EQ(refusal(rules, {{"Host", "Arena.example.org:80"}}, "10.0.0.5:80"), 0);
  EXPECT_EQ(refusal(rules, {{"Host", "other.example.org"}}, "10.0.0.5:80"), 403);
  options.allow_hosts = {"*"};
  EXPECT_EQ(refusal(EdgeRules{options}, {{"Host", "other.example.org"}}, ""), 0);
}

}  // namespace
}  // namespace league::transport
