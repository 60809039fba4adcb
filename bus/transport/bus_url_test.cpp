#include "bus/transport/nats_bus.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace league::transport::bus {
namespace {

TEST(BusUrls, AreAListOfBrokers) {
  auto urls = parse_bus_urls("nats://a:4222, tls://u:p@b.example:1/,c,nats://[::1]:4222");
  ASSERT_TRUE(urls);
  EXPECT_EQ(*urls, (std::vector<std::string>{"nats://a:4222", "tls://u:p@b.example:1", "nats://c",
                                             "nats://[::1]:4222"}));
}

TEST(BusUrls, AreRefusedWithoutSayingAPassword) {
  for (const char* bad : {"", ",", "nats://", "http://a:1", "nats://a:0", "nats://a:65536",
                          "nats://a:x", "nats://a b", "nats://:4222", "nats://a/path",
                          "nats://[::1", "nats://u:secret@:1", "nats://u:secret@a:x"}) {
    auto urls = parse_bus_urls(bad);
    ASSERT_FALSE(urls) << bad;
    EXPECT_EQ(urls.error().field, "url");
    EXPECT_EQ(urls.error().message.find("secret"), std::string::npos) << urls.error().message;
  }
}

TEST(BusUrls, AreShownWithoutCredentials) {
  EXPECT_EQ(without_credentials("nats://u:p@h:1"), "nats://h:1");
  EXPECT_EQ(without_credentials("nats://u:p@@h:1"), "nats://h:1");
  EXPECT_EQ(without_credentials("token@h"), "h");
  EXPECT_EQ(without_credentials("nats://h:1"), "nats://h:1");
}

TEST(BusUrls, NameAUserOrNobody) {
  EXPECT_TRUE(has_user("nats://u:p@h:1"));
  EXPECT_TRUE(has_user("u:p@@h"));
  EXPECT_FALSE(has_user("nats://token@h:1"));
  EXPECT_FALSE(has_user("nats://h:1"));
  EXPECT_FALSE(has_user("nats://@h:1"));
}

}  // namespace
}  // namespace league::transport::bus
