#include "common/transport/link/endpoint_policy.h"

#include <gtest/gtest.h>

namespace league::transport::link {
namespace {

core::Result<Endpoint> admit(const EndpointPolicy& policy, const std::string& url) {
  return policy.admit(*parse_endpoint(url));
}

EndpointPolicy resolving_to(const EndpointPolicy& policy, std::vector<std::string> addresses) {
  return policy.with_resolver(
      [addresses](const std::string&) -> core::Result<std::vector<std::string>> {
        return addresses;
      });
}

TEST(EndpointPolicy, LocalAllowsLoopbackAndPrivateNetworks) {
  auto policy = EndpointPolicy::local();
  for (std::string host : {"127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "172.31.255.255",
                           "192.168.1.1", "[::1]", "[fd12::1]", "[::ffff:10.0.0.1]"}) {
    auto endpoint = admit(policy, "http://" + host + ":80/");
    ASSERT_TRUE(endpoint) << host;
    EXPECT_FALSE(endpoint->pinned_address.empty()) << host;
  }
  for (std::string host : {"8.8.8.8", "172.32.0.1", "11.0.0.1", "[2606:4700::1]"}) {
    EXPECT_FALSE(admit(policy, "http://" + host + "/")) << host;
  }
}

TEST(EndpointPolicy, SomeAddressesAreNeverCalled) {
  for (std::string host :
       {"169.254.169.254", "0.0.0.0", "0.1.2.3", "224.0.0.1", "255.255.255.255", "100.100.100.200",
        "[::]", "[fe80::1]", "[ff02::1]", "[fd00:ec2::254]", "[::ffff:169.254.169.254]",
        "[::ffff:0.0.0.0]", "[::169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[2002:a9fe:a9fe::]"}) {
    auto endpoint = admit(EndpointPolicy::any(), "http://" + host + "/");
    ASSERT_FALSE(endpoint) << host;
    EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed);
  }
}

TEST(EndpointPolicy, ResolvesOnceAndPinsTheFirstAddress) {
  auto policy = resolving_to(EndpointPolicy::local(), {"10.0.0.7", "10.0.0.8"});
  auto endpoint = admit(policy, "http://bot.example:8101/mcp");
  ASSERT_TRUE(endpoint);
  EXPECT_EQ(endpoint->pinned_address, "10.0.0.7");
  EXPECT_EQ(endpoint->host, "bot.example");
}

TEST(EndpointPolicy, EveryAddressOfANameMustBeAllowed) {
  EXPECT_FALSE(admit(resolving_to(EndpointPolicy::local(), {"10.0.0.7", "8.8.8.8"}), "http://b/"));
  EXPECT_FALSE(
      admit(resolving_to(EndpointPolicy::any(), {"10.0.0.7", "169.254.1.1"}), "http://b/"));
  EXPECT_FALSE(admit(resolving_to(EndpointPolicy::any(), {}), "http://b/"));
}

TEST(EndpointPolicy, LocalhostStaysUnpinned) {
  auto endpoint = admit(EndpointPolicy::local(), "http://localhost:8101/mcp");
  ASSERT_TRUE(endpoint);
  EXPECT_TRUE(endpoint->pinned_address.empty());
}

TEST(EndpointPolicy, ListsNameHostsAndBlocks) {
  auto policy = EndpointPolicy::parse("bots.example.org,203.0.113.0/24,198.51.100.7");
  ASSERT_TRUE(policy);
  EXPECT_TRUE(admit(*policy, "http://203.0.113.9/"));
  EXPECT_FALSE(admit(*policy, "http://203.0.114.9/"));
  EXPECT_TRUE(admit(*policy, "http://198.51.100.7/"));
  EXPECT_FALSE(admit(*policy, "http://127.0.0.1/"));
  EXPECT_FALSE(admit(*policy, "http://localhost/"));
  EXPECT_TRUE(admit(resolving_to(*policy, {"8.8.8.8"}), "http://bots.example.org/"));
  EXPECT_FALSE(admit(resolving_to(*policy, {"8.8.8.8"}), "http://other.example.org/"));
  EXPECT_FALSE(admit(resolving_to(*policy, {"169.254.169.254"}), "http://bots.example.org/"));
}

TEST(EndpointPolicy, SocketsAndCommandsMustBeNamed) {
  for (const auto& policy :
       {EndpointPolicy::local(), EndpointPolicy::any(),
        *EndpointPolicy::parse("local,any,unix:/run/bots/,stdio:python3 bots/")}) {
    for (std::string url :
         {"unix:/run/other.sock", "unix:/run/botsy", "stdio:sh", "stdio:python3",
          "stdio:python3 botsy", "stdio:python3 bots/../x.py", "stdio:python3 bots/.\\./x.py",
          "stdio:python3 'bots/x", "stdio:'python3 bots/'"}) {
      auto endpoint = admit(policy, url);
      ASSERT_FALSE(endpoint) << url;
      EXPECT_EQ(endpoint.error().code, core::ErrorCode::kEndpointNotAllowed);
    }
  }
  EXPECT_NE(admit(EndpointPolicy::any(), "stdio:sh").error().message.find("--endpoints"),
            std::string::npos);
  EXPECT_NE(admit(EndpointPolicy::any(), "unix:/a").error().message.find("--endpoints"),
            std::string::npos);
}

TEST(EndpointPolicy, NamedSocketsAndCommandsAreCalled) {
  auto policy = EndpointPolicy::parse(
      "local,unix:/run/bots/,unix:/run/one.sock,stdio:python3 bots/,stdio:./bot --fast");
  ASSERT_TRUE(policy) << policy.error().message;
  for (std::string url :
       {"unix:/run/bots/a.sock", "unix:/run/one.sock", "stdio:python3 bots/a.py",
        "stdio:python3 'bots/a.py' x y", "stdio:./bot --fast", "stdio:./bot --fast 1",
        "http://127.0.0.1:1/", "ws://127.0.0.1:1/", "tcp://10.0.0.1:9"}) {
    auto endpoint = admit(*policy, url);
    ASSERT_TRUE(endpoint) << url << ": " << endpoint.error().message;
    EXPECT_EQ(endpoint->url(), parse_endpoint(url)->url());
  }
  for (std::string url : {"stdio:./bot", "stdio:./bot --faster", "unix:/run/one.sock2"}) {
    EXPECT_FALSE(admit(*policy, url)) << url;
  }
  EXPECT_TRUE(admit(*EndpointPolicy::parse("stdio"), "stdio:anything at all"));
  EXPECT_FALSE(admit(*EndpointPolicy::parse("stdio"), "http://127.0.0.1/"));
}

TEST(EndpointPolicy, OtherNetworkSchemesFollowTheSameRules) {
  for (std::string scheme : {"ws", "wss", "tcp"}) {
    EXPECT_FALSE(admit(EndpointPolicy::local(), scheme + "://8.8.8.8:1")) << scheme;
    EXPECT_FALSE(admit(EndpointPolicy::any(), scheme + "://169.254.169.254:1")) << scheme;
    auto endpoint =
        admit(resolving_to(EndpointPolicy::local(), {"10.0.0.7"}), scheme + "://b.example:1");
    ASSERT_TRUE(endpoint) << scheme;
    EXPECT_EQ(endpoint->pinned_address, "10.0.0.7");
  }
}

TEST(EndpointPolicy, SessionsAreCalledOnlyByWhoIsOnABus) {
  const std::string url = "nats:0123456789abcdef";
  for (const auto& policy : {EndpointPolicy::local(), EndpointPolicy::any(),
                             *EndpointPolicy::parse("local,unix:/run/,stdio")}) {
    auto refused = admit(policy, url);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, core::ErrorCode::kEndpointNotAllowed);
    EXPECT_NE(refused.error().message.find("no bus"), std::string::npos);
    auto admitted = admit(policy.with_bus(), url);
    ASSERT_TRUE(admitted) << admitted.error().message;
    EXPECT_EQ(admitted->url(), url);
    EXPECT_TRUE(admitted->pinned_address.empty());
  }
  EXPECT_TRUE(admit(*EndpointPolicy::parse("nats"), url));
  EXPECT_FALSE(admit(*EndpointPolicy::parse("nats"), "http://127.0.0.1/"));
}

TEST(EndpointPolicy, ABusChangesNothingElseAndItsManagerIsNoAgent) {
  auto policy = EndpointPolicy::local().with_bus();
  EXPECT_FALSE(admit(policy, "nats:manager"));
  EXPECT_FALSE(admit(policy, "nats:manager/league_a"));
  EXPECT_TRUE(admit(policy, "http://127.0.0.1/"));
  EXPECT_FALSE(admit(policy, "http://8.8.8.8/"));
  EXPECT_FALSE(admit(policy, "stdio:sh"));
  Endpoint hostile{"nats", {}, 0, "session-1.>", {}};
  EXPECT_FALSE(policy.admit(hostile)) << "made without parse_endpoint";
}

TEST(EndpointPolicy, RefusesMalformedLists) {
  for (std::string text : {"", "10.0.0.0/33", "10.0.0.0/x", "a b", "::/129", ",", "unix:", "unix:a",
                           "unix:/a/../b/", "stdio:", "stdio:'a", "local,,any"}) {
    EXPECT_FALSE(EndpointPolicy::parse(text)) << text;
  }
}

}  // namespace
}  // namespace league::transport::link
