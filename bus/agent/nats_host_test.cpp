#include "bus/agent/nats_host.h"

#include <gtest/gtest.h>

#include <fstream>

#include "bus/transport/broker_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::agent::bus {
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
    BusOptions options{.urls = broker_->url(), .credentials = {}, .tls = {}};
    if (!has_streams) {
      options.credentials = directory_.path() / "a.json";
      std::ofstream(options.credentials)
          << R"({"user":"a","password":"b","session":"0123456789abcdef","streams":false})";
    }
    auto host = host::AgentHost::create(runtime::Settings(), {.bus = options});
    ASSERT_TRUE(host) << host.error().message;
    host_ = std::move(*host);
    auto port = host::AgentPort::open(*host_, {.log = directory_.path() / "a.jsonl", .agent = "a"});
    ASSERT_TRUE(port) << port.error().message;
    port_ = std::move(*port);
  }

  league::testing::TemporaryDirectory directory_;
  std::unique_ptr<league::testing::TestingBroker> broker_;
  std::unique_ptr<host::AgentHost> host_;
  std::unique_ptr<host::AgentPort> port_;
};

TEST_F(AgentHostOnBus, StreamsAreAskedForWhereNothingIsSaidOfThem) {
  open(true);
  EXPECT_TRUE(nats_of(*host_)->has_streams());
  EXPECT_NE(nats_of(*port_)->streams(), nullptr);
}

TEST_F(AgentHostOnBus, NobodyAsksForStreamsWhereThereAreNone) {
  open(false);
  EXPECT_FALSE(nats_of(*host_)->has_streams());
  EXPECT_EQ(nats_of(*port_)->streams(), nullptr);
  ASSERT_NE(host_->on_bus(), nullptr);
  EXPECT_FALSE(port_->session_url().empty()) << "on the bus all the same";
}

}  // namespace
}  // namespace league::agent::bus
