#include "common/transport/http/cors_rules.h"

#include <gtest/gtest.h>

#include <map>

namespace league::transport::http {
namespace {

std::map<std::string, std::string> named(const CorsRules::Fields& fields) {
  return {fields.begin(), fields.end()};
}

TEST(CorsRules, OnlyListedOriginsReadAnswers) {
  const CorsRules rules({"https://example.org", "http://localhost:3000"});
  for (const char* origin : {"https://example.org", "http://localhost:3000"}) {
    auto fields = named(rules.answer_fields({{"Origin", origin}}));
    EXPECT_EQ(fields["Access-Control-Allow-Origin"], origin);
    EXPECT_EQ(fields["Vary"], "Origin");
    EXPECT_FALSE(fields.contains("Access-Control-Allow-Credentials"));
  }
  for (const char* origin :
       {"", "null", "*", "https://example.org:8443", "http://example.org", "https://example.org/",
        "https://example.org.evil.example", "https://sub.example.org", "http://localhost",
        "http://localhost:30001", "HTTPS://EXAMPLE.ORG"}) {
    EXPECT_FALSE(rules.allows(origin)) << origin;
    EXPECT_EQ(rules.answer_fields({{"Origin", origin}}), (CorsRules::Fields{{"Vary", "Origin"}}))
        << origin;
  }
  EXPECT_EQ(rules.answer_fields({{"Origin", "https://example.org"}, {"Origin", "null"}}).size(),
            1U);
  EXPECT_TRUE(CorsRules({}).answer_fields({{"Origin", "https://example.org"}}).empty());
}

TEST(CorsRules, EveryOriginIsNotNoOrigin) {
  const CorsRules rules({"*"});
  auto fields = named(rules.answer_fields({{"Origin", "https://any.example"}}));
  EXPECT_EQ(fields["Access-Control-Allow-Origin"], "*");
  EXPECT_FALSE(fields.contains("Access-Control-Allow-Credentials"));
  EXPECT_FALSE(rules.allows("null"));
  EXPECT_TRUE(rules.answer_fields({}).empty());
}

TEST(CorsRules, APreflightIsOneOfAnAllowedPage) {
  const CorsRules rules({"https://example.org"});
  const rpc::HeaderMap asked{{"Origin", "https://example.org"},
                             {"Access-Control-Request-Method", "POST"}};
  EXPECT_TRUE(rules.is_preflight("OPTIONS", asked));
  EXPECT_FALSE(rules.is_preflight("POST", asked));
  EXPECT_FALSE(rules.is_preflight("OPTIONS", {{"Origin", "https://example.org"}}));
  EXPECT_FALSE(rules.is_preflight("OPTIONS", {{"Access-Control-Request-Method", "POST"}}));
  EXPECT_FALSE(rules.is_preflight("OPTIONS",
                                  {{"Origin", "null"}, {"Access-Control-Request-Method", "POST"}}));
}

TEST(CorsRules, APageMaySendWhatMcpHasAndNothingElse) {
  auto fields = named(CorsRules::preflight_fields(
      {{"Access-Control-Request-Headers",
        "Content-Type, MCP-Session-Id,Mcp-Param-Region , cookie, x-odd, mcp-param-\r\nx: y, ,*"}},
      "POST, GET"));
  EXPECT_EQ(fields["Access-Control-Allow-Methods"], "POST, GET");
  EXPECT_EQ(fields["Access-Control-Allow-Headers"],
            "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, "
            "mcp-protocol-version, mcp-session-id, mcp-param-region");
  EXPECT_FALSE(fields.contains("Access-Control-Allow-Private-Network"));
  EXPECT_FALSE(fields.contains("Access-Control-Allow-Credentials"));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "mcp-param-" + std::to_string(i) + ",";
  auto bounded =
      named(CorsRules::preflight_fields({{"Access-Control-Request-Headers", many},
                                         {"Access-Control-Request-Private-Network", "true"}},
                                        "POST"));
  EXPECT_LT(bounded["Access-Control-Allow-Headers"].size(), 1200U);
  EXPECT_EQ(bounded["Access-Control-Allow-Private-Network"], "true");
}

TEST(CorsRules, OriginsAreWrittenAsBrowsersSendThem) {
  EXPECT_EQ(*parse_origin("HTTPS://Example.org:443"), "https://example.org");
  EXPECT_EQ(*parse_origin("http://localhost:80"), "http://localhost");
  EXPECT_EQ(*parse_origin("http://localhost:8080"), "http://localhost:8080");
  EXPECT_EQ(*parse_origin("http://[::1]:3000"), "http://[::1]:3000");
  EXPECT_EQ(*parse_origin("app+x://id"), "app+x://id");
  EXPECT_EQ(*parse_origin("*"), "*");
  for (const char* wrong : {"", "null", "example.org", "https://", "https://example.org/",
                            "https://a b", "https://*.example.org", "://x", "https://x\r\ny"})
    EXPECT_FALSE(parse_origin(wrong)) << wrong;
}

}  // namespace
}  // namespace league::transport::http
