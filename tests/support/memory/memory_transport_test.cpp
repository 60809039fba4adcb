#include "tests/support/memory/memory_transport.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/support/fake_clock.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::memory {
namespace {

using league::testing::echo;
using league::testing::FunctionHandler;
using std::chrono::milliseconds;
using std::chrono::seconds;

class MemoryTransport : public ::testing::Test {
 protected:
  void call(const std::string& url, std::string bytes = "{}") {
    link::OutboundCall call;
    call.endpoint = *link::parse_endpoint(url);
    call.bytes = std::move(bytes);
    call.deadline = time_.steady_now() + seconds(5);
    caller_.call(std::move(call), [this](link::CallOutcome outcome) {
      order_.push_back(outcome.bytes.str());
      last_ = std::move(outcome);
    });
  }

  league::testing::FakeTime time_;
  MemoryNetwork network_{time_, time_};
  MemoryCaller caller_{network_};
  std::vector<std::string> order_;
  std::optional<link::CallOutcome> last_;
};

TEST_F(MemoryTransport, DeliversAndAnswersInOrder) {
  FunctionHandler handler(echo);
  network_.listen("http://a:1/mcp", handler);
  for (std::string bytes : {"1", "2", "3"}) call("http://a:1/mcp", bytes);
  EXPECT_TRUE(order_.empty());
  EXPECT_EQ(network_.run_until_idle(), 6U);
  EXPECT_EQ(order_, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(last_->http_status, 200);
  EXPECT_EQ(time_.waiting(), 0U);
}

TEST_F(MemoryTransport, SaysThatNobodyListens) {
  call("http://nobody:1/mcp");
  network_.run_until_idle();
  ASSERT_TRUE(last_ && last_->error);
  EXPECT_EQ(last_->error->code, core::ErrorCode::kConnectionError);
}

TEST_F(MemoryTransport, SilentPeersEndAtTheDeadline) {
  std::vector<link::ReplySlot> kept;
  FunctionHandler handler(
      [&](const link::Inbound&, link::ReplySlot reply) { kept.push_back(std::move(reply)); });
  network_.listen("http://a:1/mcp", handler);
  call("http://a:1/mcp");
  network_.run_until_idle();
  time_.advance(milliseconds(4999));
  EXPECT_FALSE(last_);
  time_.advance(milliseconds(1));
  ASSERT_TRUE(last_ && last_->error);
  EXPECT_EQ(last_->error->code, core::ErrorCode::kTimeout);
  EXPECT_EQ(last_->elapsed, seconds(5));
  link::OutboundReply late;
  late.bytes = "late";
  kept[0].send(std::move(late));
  network_.run_until_idle();
  EXPECT_EQ(order_.size(), 1U);
}

TEST_F(MemoryTransport, RunsAfterSentAfterTheAnswerArrived) {
  FunctionHandler handler([&](const link::Inbound&, link::ReplySlot reply) {
    link::OutboundReply out;
    out.bytes = "answer";
    out.after_sent = [this] { order_.push_back("after"); };
    reply.send(std::move(out));
  });
  network_.listen("http://a:1/mcp", handler);
  call("http://a:1/mcp");
  network_.run_until_idle();
  EXPECT_EQ(order_, (std::vector<std::string>{"answer", "after"}));
}

TEST(ReplySlot, AnswersForWhoForgets) {
  int answers = 0;
  std::string bytes;
  auto sink = [&](const link::OutboundReply& reply) {
    ++answers;
    bytes = reply.bytes;
  };
  { link::ReplySlot forgotten(sink); }
  EXPECT_EQ(answers, 1);
  EXPECT_NE(bytes.find("-32603"), std::string::npos);
  link::ReplySlot slot(sink);
  link::ReplySlot moved(std::move(slot));
  moved.send({});
  moved.send({});
  EXPECT_TRUE(moved.answered());
  EXPECT_EQ(answers, 2);
}

}  // namespace
}  // namespace league::transport::memory
