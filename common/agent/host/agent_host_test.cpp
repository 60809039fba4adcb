#include "common/agent/host/agent_host.h"

#include <gtest/gtest.h>

#include "common/transport/bus/broker_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::agent::host {
namespace {

/// A port on the bus of a broker that takes anybody.
class AgentHostOnBus : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!league::testing::TestingBroker::is_installed())
      GTEST_SKIP() << "nats-server is not installed";
    broker_ = std::make_unique<league::testing::TestingBroker>();
  }
  void TearDown() override {
    port_.reset();
    if (host_) host_->shut_down();
  }
  void open(bool has_streams) {
    bus::BusAccess access;
    access.options.urls = broker_->url();
    access.has_streams = has_streams;
    auto host = AgentHost::create(runtime::Settings(), {.bus = access});
    ASSERT_TRUE(host) << host.error().message;
    host_ = std::move(*host);
    auto port = AgentPort::open(*host_, {.log = directory_.path() / "a.jsonl", .agent = "a"});
    ASSERT_TRUE(port) << port.error().message;
    port_ = std::move(*port);
  }

  league::testing::TemporaryDirectory directory_;
  std::unique_ptr<league::testing::TestingBroker> broker_;
  std::unique_ptr<AgentHost> host_;
  std::unique_ptr<AgentPort> port_;
};

TEST_F(AgentHostOnBus, StreamsAreAskedForWhereNothingIsSaidOfThem) {
  open(true);
  EXPECT_TRUE(host_->has_streams());
  EXPECT_NE(port_->streams(), nullptr);
}

TEST_F(AgentHostOnBus, NobodyAsksForStreamsWhereThereAreNone) {
  open(false);
  EXPECT_FALSE(host_->has_streams());
  EXPECT_EQ(port_->streams(), nullptr);
  ASSERT_NE(host_->bus(), nullptr);
  EXPECT_FALSE(port_->session_url().empty()) << "on the bus all the same";
}

TEST(AgentHost, WithoutABusThereAreNoStreams) {
  auto host = AgentHost::create(runtime::Settings());
  ASSERT_TRUE(host);
  EXPECT_FALSE((*host)->has_streams());
}

}  // namespace
}  // namespace league::agent::host
