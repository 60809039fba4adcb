#include "common/transport/link/caller.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"

namespace league::transport::link {
namespace {

rpc::TransportContext way_to(const std::string& url, const std::string& pinned = "") {
  auto endpoint = *parse_endpoint(url);
  endpoint.pinned_address = pinned;
  league::testing::FakeTime time;
  auto context = context_of_call(endpoint, time);
  EXPECT_EQ(context.direction, rpc::MessageDirection::kClientToServer);
  EXPECT_EQ(context.timing, rpc::TimingContext::now(time));
  return context.transport;
}

TEST(ContextOfCall, NamesTheTransportOfEachScheme) {
  using enum rpc::TransportType;
  EXPECT_EQ(way_to("http://localhost:8101/mcp").type, kHttp);
  EXPECT_EQ(way_to("https://bot.example/").type, kHttp);
  EXPECT_EQ(way_to("ws://localhost:8101/mcp").type, kWebSocket);
  EXPECT_EQ(way_to("tcp://localhost:8101").type, kTcp);
  EXPECT_EQ(way_to("unix:/run/bot.sock").type, kUnix);
  EXPECT_EQ(way_to("stdio:python3 bot.py").type, kSubprocess);
  EXPECT_EQ(way_to("nats:manager").type, kNats);
}

TEST(ContextOfCall, SaysWhereAnHttpCallGoes) {
  auto way = way_to("http://bot.example:8101/mcp?code=secret");
  EXPECT_EQ(way.as_http()->method.view(), "POST");
  EXPECT_EQ(way.as_http()->uri.view(), "/mcp?code=secret") << "the log leaves the query out";
  EXPECT_EQ(way.connection->remote_address, "bot.example:8101");
  EXPECT_EQ(way_to("tcp://bot.example:8101", "10.0.0.7").connection->remote_address,
            "10.0.0.7:8101");
}

TEST(ContextOfCall, SaysWhereOtherCallsGo) {
  EXPECT_EQ(way_to("unix:/run/bot.sock").connection->remote_address, "/run/bot.sock");
  EXPECT_EQ(way_to("stdio:/usr/bin/python3 bot.py --key x").connection->remote_address, "python3");
  const auto bus = way_to("nats:0123456789abcdef");
  EXPECT_EQ(bus.connection, nullptr);
  EXPECT_EQ(std::get<std::shared_ptr<const rpc::NatsMetadata>>(bus.metadata)->subject,
            "mcp.session.0123456789abcdef.out");
  EXPECT_EQ(way_to("nats:manager").connection, nullptr);
}

}  // namespace
}  // namespace league::transport::link
