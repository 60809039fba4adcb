#include "common/transport/client/url_reference.h"

#include <gtest/gtest.h>

namespace league::transport::client {
namespace {

link::Endpoint stream_at(std::string scheme, std::string host, std::uint16_t port,
                         std::string path) {
  link::Endpoint endpoint;
  endpoint.scheme = std::move(scheme);
  endpoint.host = std::move(host);
  endpoint.port = port;
  endpoint.path = std::move(path);
  return endpoint;
}

std::string path_for(const link::Endpoint& base, std::string_view reference) {
  auto resolved = resolve_reference(base, reference);
  if (!resolved) return "refused";
  EXPECT_EQ(resolved->scheme, base.scheme);
  EXPECT_EQ(resolved->host, base.host);
  EXPECT_EQ(resolved->port, base.port);
  return resolved->path;
}

TEST(UrlReference, Resolves) {
  auto base = stream_at("sse+http", "localhost", 8101, "/a/b/sse?x=1");
  EXPECT_EQ(path_for(base, "/messages?s=1"), "/messages?s=1");
  EXPECT_EQ(path_for(base, "messages?s=a/../b"), "/a/b/messages?s=a/../b");
  EXPECT_EQ(path_for(base, "?s=1"), "/a/b/sse?s=1");
  EXPECT_EQ(path_for(base, "./m"), "/a/b/m");
  EXPECT_EQ(path_for(base, "../m"), "/a/m");
  EXPECT_EQ(path_for(base, "../../../../m"), "/m");
  EXPECT_EQ(path_for(base, "/x/./y/../z"), "/x/z");
  EXPECT_EQ(path_for(base, "/x/.."), "/");
  EXPECT_EQ(path_for(base, "/m#part"), "/m");
  EXPECT_EQ(path_for(base, "m/a:b"), "/a/b/m/a:b");
  EXPECT_EQ(path_for(base, "http://localhost:8101/m?s"), "/m?s");
  EXPECT_EQ(path_for(base, "HTTP://LOCALHOST:8101"), "/");
  EXPECT_EQ(path_for(base, "http://localhost:8101?s=1"), "/?s=1");
  EXPECT_EQ(path_for(base, "//localhost:8101/m"), "/m");
}

TEST(UrlReference, KnowsDefaultPortsAndAddresses) {
  EXPECT_EQ(path_for(stream_at("sse+https", "example.org", 443, "/s"), "https://example.org/m"),
            "/m");
  EXPECT_EQ(path_for(stream_at("http", "example.org", 80, "/s"), "http://example.org/m"), "/m");
  EXPECT_EQ(path_for(stream_at("http", "::1", 8101, "/s"), "http://[::1]:8101/m"), "/m");
}

TEST(UrlReference, RefusesOtherOriginsAndNonsense) {
  auto base = stream_at("http", "localhost", 8101, "/sse");
  for (const char* reference :
       {"https://localhost:8101/m", "http://localhost/m", "http://localhost:8102/m",
        "http://127.0.0.1:8101/m", "http://localhost:8101.evil.example/m",
        "http://localhost:8101@evil.example/m", "//evil.example/m", "mailto:a@b", "file:///etc", "",
        "/a b", "/a\nb", "/\xC3\xA4", "ws://localhost:8101/m", "http:m"}) {
    EXPECT_EQ(path_for(base, reference), "refused") << reference;
  }
  EXPECT_EQ(path_for(base, "/" + std::string(3000, 'a')), "refused");
}

}  // namespace
}  // namespace league::transport::client
