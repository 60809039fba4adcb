// Streams that are full, at a broker of the test's own.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/jet_stream.h"
#include "bus/transport/jet_stream_testing.h"
#include "bus/transport/nats_bus.h"
#include "tests/support/temporary_directory.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using Ack = PublishAck::Status;
using testing::JetAgent;
using testing::TestingBroker;

class JetStreamRoomTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }
  static StreamConfig journal() { return {.name = "J", .subjects = {"j.>"}}; }
  /// A broker whose configuration has `limits` for its store.
  void start(const std::string& limits) {
    const auto file = directory.path() / "server.conf";
    std::ofstream(file) << "jetstream { store_dir: \"" << (directory.path() / "store").string()
                        << "\"" << limits << " }\n";
    broker = std::make_unique<TestingBroker>(std::vector<std::string>{"-c", file.string()});
    agent = std::make_unique<JetAgent>(broker->url());
  }

  testing::TemporaryDirectory directory;
  std::unique_ptr<TestingBroker> broker;
  std::unique_ptr<JetAgent> agent;
};

TEST_F(JetStreamRoomTest, IsFullAtItsLimit) {
  start("");
  auto refusing = journal();
  refusing.max_bytes = 64 << 10;
  refusing.refuses_when_full = true;
  ASSERT_TRUE(agent->ensure(refusing));
  const std::string large(10'000, 'x');
  PublishAck ack;
  int stored = 0;
  for (; stored < 20 && (ack = agent->publish("j.a", large)).status == Ack::kStored;) ++stored;
  EXPECT_EQ(stored, 6);
  EXPECT_EQ(ack.status, Ack::kFull) << ack.why.message;
  auto state = agent->state("J");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->max_bytes, 64 << 10);
  EXPECT_GT(state->bytes, 60'000U);
  auto dropping = journal();
  dropping.max_bytes = 64 << 10;
  ASSERT_TRUE(agent->ensure(dropping)) << "a limit can be changed";
  EXPECT_EQ(agent->publish("j.a", large).status, Ack::kStored);
  EXPECT_GT(agent->state("J")->first_sequence, 1U) << "the oldest went";
}

TEST_F(JetStreamRoomTest, MoreThanABrokerCanPromiseIsHalvedUntilItCan) {
  start(", max_file_store: 1MB");
  StreamConfig modest{.name = "K", .subjects = {"k.>"}, .max_bytes = 600 << 10};
  ASSERT_TRUE(agent->ensure(modest));
  auto made = agent->ensure(modest);
  ASSERT_TRUE(made) << "it has taken more than half: " << made.error().message;
  EXPECT_EQ(made->max_bytes, 600 << 10);
  auto config = journal();
  config.max_bytes = 64 << 20;
  config.refuses_when_full = true;
  made = agent->ensure(config);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->max_bytes, 256 << 10);
  made = agent->ensure(config);
  ASSERT_TRUE(made) << "found again: " << made.error().message;
  const std::string large(100'000, 'x');
  PublishAck ack;
  for (int i = 0; i < 20; ++i) {
    ack = agent->publish("j.a", large);
    if (ack.status != Ack::kStored) break;
  }
  EXPECT_EQ(ack.status, Ack::kFull) << ack.why.message;
  EXPECT_EQ(agent->publish("k.a", large).status, Ack::kStored) << "it has its own room";
}

TEST_F(JetStreamRoomTest, ABrokerWithoutRoomMakesAStreamWithoutALimit) {
  start(", max_file_store: 1MB");
  ASSERT_TRUE(agent->ensure({.name = "K", .subjects = {"k.>"}, .max_bytes = 1000 << 10}));
  auto config = journal();
  config.max_bytes = 64 << 20;
  auto made = agent->ensure(config);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->max_bytes, -1);
}

}  // namespace
}  // namespace league::transport::bus
