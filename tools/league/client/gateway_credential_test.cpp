#include "tools/league/client/gateway_credential.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"

namespace league::tools {
namespace {

std::optional<std::string> environment(const std::string& name) {
  if (name == "KEY") return "s3cr et&x";
  if (name == "EMPTY") return "";
  if (name == "BAD") return "a\r\nInjected: b";
  return std::nullopt;
}

struct Applied {
  transport::link::Endpoint endpoint =
      *transport::link::parse_endpoint("http://localhost:3001/sse?v=1");
  transport::client::HttpHeaders headers{{"Authorization", "Bearer client"},
                                         {"cookie", "c"},
                                         {"x-api-key", "client"},
                                         {"X-Other", "1"}};
};

Applied apply(const std::string& text) {
  Applied applied;
  auto credential = GatewayCredential::parse(text, environment);
  EXPECT_TRUE(credential) << text;
  if (credential) credential->apply(applied.endpoint, applied.headers);
  return applied;
}

TEST(GatewayCredential, PassesThroughOrPutsItsOwnInPlace) {
  EXPECT_EQ(apply("passthrough").headers.size(), 4U);
  EXPECT_EQ(apply("header:X-API-Key=KEY").headers,
            (transport::client::HttpHeaders{{"X-Other", "1"}, {"X-API-Key", "s3cr et&x"}}));
  EXPECT_EQ(apply("bearer:KEY").headers,
            (transport::client::HttpHeaders{
                {"x-api-key", "client"}, {"X-Other", "1"}, {"Authorization", "Bearer s3cr et&x"}}));
  auto query = apply("query:api_key=KEY");
  EXPECT_EQ(query.endpoint.path, "/sse?v=1&api_key=s3cr%20et%26x");
  EXPECT_EQ(query.headers,
            (transport::client::HttpHeaders{{"x-api-key", "client"}, {"X-Other", "1"}}));
}

TEST(GatewayCredential, SecretsComeFromFilesToo) {
  testing::TemporaryDirectory directory;
  std::ofstream(directory.path() / "key") << "from-file\r\nrest\n";
  auto applied = apply("bearer:@" + (directory.path() / "key").string());
  EXPECT_EQ(applied.headers.back().second, "Bearer from-file");
}

TEST(GatewayCredential, RefusesWhatIsNoCredentialWithoutSayingIt) {
  for (const char* text : {"", "bearer", "bearer:", "bearer:NOBODY", "bearer:EMPTY", "bearer:BAD",
                           "header:KEY", "header:=KEY", "header:a b=KEY", "query:x=", "basic:KEY",
                           "passthrough:x", "bearer:@/nonexistent/file"}) {
    auto credential = GatewayCredential::parse(text, environment);
    ASSERT_FALSE(credential) << text;
    EXPECT_EQ(credential.error().message.find("Injected"), std::string::npos);
  }
}

TEST(GatewayCredential, ScrubsItselfFromTexts) {
  auto credential = GatewayCredential::parse("query:k=KEY", environment);
  EXPECT_EQ(credential->scrub("GET /sse?k=s3cr%20et%26x failed: s3cr et&x"),
            "GET /sse?k=*** failed: ***");
  EXPECT_EQ(GatewayCredential().scrub("as it is"), "as it is");
}

}  // namespace
}  // namespace league::tools
