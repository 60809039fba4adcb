#include "common/transport/http/edge_rules.h"

#include <gtest/gtest.h>

namespace league::transport::http {
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

TEST(EdgeRules, APageOfThisServerMayCallIt) {
  HttpServerOptions options;
  options.allow_hosts = {"arena.example.org"};
  const EdgeRules rules{options};
  auto of = [&](const char* host, const char* origin) {
    return refusal(rules, {{"Host", host}, {"Origin", origin}}, "10.0.0.5:8001");
  };
  EXPECT_EQ(of("10.0.0.5:8001", "http://10.0.0.5:8001"), 0);
  EXPECT_EQ(of("arena.example.org:8001", "http://arena.example.org:8001"), 0);
  EXPECT_EQ(of("arena.example.org", "https://arena.example.org"), 0) << "behind a proxy with TLS";
  for (const char* origin : {"http://10.0.0.6:8001", "http://10.0.0.5:9000", "http://evil.example",
                             "ftp://10.0.0.5:8001", "http://arena.example.org", "null", ""})
    EXPECT_EQ(of("10.0.0.5:8001", origin), 403) << origin;
  options.allow_hosts = {"*"};
  EXPECT_EQ(refusal(EdgeRules{options},
                    {{"Host", "evil.example"}, {"Origin", "http://evil.example"}}, "10.0.0.5:80"),
            403)
      << "a name that the operator has not given could be rebound";
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
}  // namespace league::transport::http
