// How messages of a stream are read, at a broker of the test's own.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/jet_stream_api.h"
#include "bus/transport/jet_stream_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using Ack = PublishAck::Status;
using testing::JetAgent;
using testing::JetAnswers;
using testing::TestingBroker;

class JetStreamReadsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    broker = std::make_unique<TestingBroker>(
        std::vector<std::string>{"-js", "-sd", directory.path().string()});
    agent = std::make_unique<JetAgent>(broker->url());
  }

  testing::TemporaryDirectory directory;
  std::unique_ptr<TestingBroker> broker;
  std::unique_ptr<JetAgent> agent;
};

TEST(JetAnswer, OfAnotherShapeIsReadAsFarAsItGoes) {
  const auto state = read_stream_state(
      R"({"state":{"messages":3},"config":{"max_bytes":null,"allow_direct":"yes"}})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->messages, 3U);
  EXPECT_EQ(state->max_bytes, -1);
  EXPECT_FALSE(state->is_direct);
}

TEST_F(JetStreamReadsTest, ReadsWhatAnotherMakesAndTheBrokerStaysThere) {
  // nats-server 2.9.10 crashes within four streams if they are read by STREAM.MSG.GET.
  JetAgent other(broker->url());
  JetAnswers<core::Result<std::optional<StoredMessage>>> read;
  for (int i = 0; i < 20; ++i) {
    const std::string name = "S" + std::to_string(i);
    other.begin(other.streams->get_next(name, "s.*", 1, other.in(10s)),
                [&](auto answer) { read.add(answer); });
    ASSERT_TRUE(agent->ensure({.name = name, .subjects = {"s." + std::to_string(i)}}));
    ASSERT_EQ(agent->publish("s." + std::to_string(i), "x").status, Ack::kStored);
    auto stored = other.first(name, "s.*");
    ASSERT_TRUE(stored) << stored.error().message;
    EXPECT_EQ((*stored)->message.payload, "x");
    EXPECT_TRUE((*stored)->message.headers.empty()) << "none of the stream's own";
    ASSERT_TRUE(read.next());
  }
}

TEST_F(JetStreamReadsTest, SaysThatThereIsNoSuchStream) {
  auto none = agent->first("NONE", "n.a");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, core::ErrorCode::kInvalidReply);
  EXPECT_NE(none.error().message.find("stream not found"), std::string::npos);
}

TEST_F(JetStreamReadsTest, ReadsAStreamOfAnEarlierVersion) {
  // One that may not be read directly. Several replicas are kept that way.
  ASSERT_TRUE(agent->bus->publish({"$JS.API.STREAM.CREATE.J",
                                   "_INBOX.x",
                                   {},
                                   R"({"name":"J","subjects":["j.>"],"storage":"file"})",
                                   false}));
  ASSERT_EQ(agent->publish("j.a", "x").status, Ack::kStored);
  EXPECT_FALSE(agent->state("J")->is_direct);
  EXPECT_EQ((*agent->first("J", "j.a"))->message.payload, "x");
  EXPECT_FALSE(*agent->first("J", "j.b"));
  ASSERT_TRUE(agent->ensure({.name = "J", .subjects = {"j.>"}}));
  EXPECT_TRUE(agent->state("J")->is_direct);
  EXPECT_FALSE(allows_direct(3));
}

}  // namespace
}  // namespace league::transport::bus
