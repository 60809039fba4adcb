#include "common/transport/link/served_connection.h"

#include <gtest/gtest.h>

#include "tests/support/memory/links_testing.h"

namespace league::transport::link {
namespace {

using league::testing::reply_with;

/// A connection that does what the test says: nothing is sent before `write_all`.
class HandConnection final : public MessageConnection {
 public:
  void start(std::shared_ptr<MessageReceiver> given) override { receiver = std::move(given); }
  void send(OutboundMessage message) override { queued.push_back(std::move(message)); }
  void set_reading(bool is_on) override { is_reading = is_on; }
  void close() override { is_closing = true; }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kMemory;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return rpc::TransportContext::memory();
  }

  void receive(const std::string& bytes) const { receiver->on_message({{bytes, {}}}); }
  void write_all() {
    for (auto& message : std::exchange(queued, {})) {
      written.push_back(message.bytes.str());
      if (message.done) message.done({});
    }
  }
  void end(const core::Error& why) {
    if (auto told = std::exchange(receiver, nullptr)) told->on_closed(why);
  }

  std::shared_ptr<MessageReceiver> receiver;
  std::vector<OutboundMessage> queued;
  std::vector<std::string> written;
  bool is_reading = true;
  bool is_closing = false;
};

/// Keeps what comes until the test answers.
class KeepingHandler final : public MessageHandler {
 public:
  void on_message(Inbound message, ReplySlot reply) override {
    channel = message.channel;
    came.push_back(message.bytes.str());
    slots.push_back(std::move(reply));
  }
  void on_channel_closed(const PeerChannel& gone) override {
    closed.push_back(gone.id());
    reasons.push_back(gone.close_reason());
    EXPECT_FALSE(gone.is_open());
  }
  void answer(std::size_t which) { slots.at(which).send(reply_with(came.at(which))); }

  std::shared_ptr<PeerChannel> channel;
  std::vector<std::string> came;
  std::vector<ReplySlot> slots;
  std::vector<std::string> closed;
  std::vector<std::string> reasons;
};

class ServedConnectionTest : public ::testing::Test {
 protected:
  ~ServedConnectionTest() override { link_->end({core::ErrorCode::kShuttingDown, "over", {}}); }

  std::shared_ptr<HandConnection> link_ = std::make_shared<HandConnection>();
  KeepingHandler handler_;
  int ends_ = 0;
  std::shared_ptr<ServedConnection> served_ = ServedConnection::serve(
      link_, handler_, {.max_in_work = 4, .on_closed = [this] { ++ends_; }});
};

TEST_F(ServedConnectionTest, HandsOverInOrderAndAnswersInAny) {
  for (const char* bytes : {"1", "2", "3"}) link_->receive(bytes);
  EXPECT_EQ(handler_.came, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(served_->in_work(), 3U);
  for (std::size_t which : {2U, 0U, 1U}) handler_.answer(which);
  link_->write_all();
  EXPECT_EQ(link_->written, (std::vector<std::string>{"3", "1", "2"}));
  EXPECT_EQ(served_->in_work(), 0U);
}

TEST_F(ServedConnectionTest, ReadsNothingMoreWhileTooMuchIsInWork) {
  for (const char* bytes : {"1", "2", "3"}) link_->receive(bytes);
  EXPECT_TRUE(link_->is_reading);
  link_->receive("4");
  EXPECT_FALSE(link_->is_reading);
  handler_.answer(3);
  EXPECT_FALSE(link_->is_reading) << "it goes on at half of the limit";
  handler_.answer(0);
  EXPECT_TRUE(link_->is_reading);
}

TEST_F(ServedConnectionTest, ForgottenMessagesAreAnsweredAndNoLongerInWork) {
  for (const char* bytes : {"1", "2", "3", "4"}) link_->receive(bytes);
  handler_.slots.clear();
  EXPECT_TRUE(link_->is_reading);
  link_->write_all();
  ASSERT_EQ(link_->written.size(), 4U);
  EXPECT_NE(link_->written[0].find("-32603"), std::string::npos);
}

TEST_F(ServedConnectionTest, AcknowledgementsWithoutBytesAreNotSent) {
  link_->receive(R"({"method":"notifications/initialized"})");
  bool is_after = false;
  OutboundReply reply;
  reply.http_status = 202;
  reply.after_sent = [&] { is_after = true; };
  handler_.slots[0].send(std::move(reply));
  EXPECT_TRUE(link_->queued.empty());
  EXPECT_TRUE(is_after);
  EXPECT_EQ(served_->in_work(), 0U);
}

TEST_F(ServedConnectionTest, AfterSentRunsWhenTheBytesAreWritten) {
  link_->receive("1");
  int after = 0;
  auto reply = reply_with("a");
  reply.after_sent = [&] { ++after; };
  handler_.slots[0].send(std::move(reply));
  EXPECT_EQ(after, 0);
  link_->write_all();
  EXPECT_EQ(after, 1);
}

TEST_F(ServedConnectionTest, AStopLetsRunningRequestsBeAnswered) {
  link_->receive("1");
  link_->receive("2");
  served_->begin_stop();
  EXPECT_FALSE(link_->is_reading);
  handler_.answer(1);
  EXPECT_FALSE(link_->is_closing);
  EXPECT_FALSE(link_->is_reading);
  handler_.answer(0);
  EXPECT_TRUE(link_->is_closing);
  link_->write_all();
  EXPECT_EQ(link_->written, (std::vector<std::string>{"2", "1"}));
}

TEST_F(ServedConnectionTest, AStopWithNothingInWorkClosesAtOnce) {
  served_->begin_stop();
  EXPECT_TRUE(link_->is_closing);
  EXPECT_TRUE(served_->is_open()) << "until the connection says so";
}

TEST_F(ServedConnectionTest, AtTheEndOfTheInputWhatRunsIsAnswered) {
  link_->receive("1");
  EXPECT_TRUE(link_->receiver->on_input_end());
  handler_.answer(0);
  EXPECT_TRUE(link_->is_closing);
}

TEST_F(ServedConnectionTest, AtTheEndOfTheInputWithNothingInWorkItIsOver) {
  link_->receive("1");
  handler_.answer(0);
  EXPECT_FALSE(link_->receiver->on_input_end());
}

TEST_F(ServedConnectionTest, TheEndIsToldOnceAndWhy) {
  link_->receive("1");
  auto channel = handler_.channel;
  EXPECT_EQ(channel, served_);
  EXPECT_TRUE(channel->is_open());
  EXPECT_EQ(channel->close_reason(), "");
  auto receiver = link_->receiver;
  link_->end({core::ErrorCode::kConnectionError, "the line is too long", {}});
  receiver->on_closed({core::ErrorCode::kConnectionError, "again", {}});
  EXPECT_EQ(handler_.closed, std::vector<std::string>{channel->id()});
  EXPECT_EQ(handler_.reasons, std::vector<std::string>{"the line is too long"});
  EXPECT_EQ(channel->close_reason(), "the line is too long");
  EXPECT_EQ(ends_, 1);
  EXPECT_FALSE(served_->is_open());
}

TEST_F(ServedConnectionTest, AnswersAfterTheEndGoNowhere) {
  link_->receive("1");
  link_->end({core::ErrorCode::kConnectionError, "gone", {}});
  int after = 0;
  auto reply = reply_with("a");
  reply.after_sent = [&] { ++after; };
  handler_.slots[0].send(std::move(reply));
  EXPECT_TRUE(link_->queued.empty());
  EXPECT_EQ(after, 1) << "or else what follows the answer never happens";
  served_->begin_stop();
  served_->close();
}

TEST_F(ServedConnectionTest, PushesGoBesideAnswers) {
  link_->receive("1");
  auto push = [&](const char* bytes) {
    return handler_.channel->push(std::make_shared<const std::string>(bytes));
  };
  EXPECT_TRUE(push("p"));
  handler_.answer(0);
  EXPECT_TRUE(push("q"));
  link_->write_all();
  EXPECT_EQ(link_->written, (std::vector<std::string>{"p", "1", "q"}));
  handler_.channel->close();
  EXPECT_TRUE(link_->is_closing);
  link_->end({core::ErrorCode::kShuttingDown, "closed", {}});
  EXPECT_FALSE(push("r"));
}

TEST_F(ServedConnectionTest, EveryChannelHasAnIdOfItsOwn) {
  auto other_link = std::make_shared<HandConnection>();
  auto other = ServedConnection::serve(other_link, handler_);
  EXPECT_NE(other->id(), served_->id());
  other_link->end({core::ErrorCode::kShuttingDown, "over", {}});
  EXPECT_EQ(handler_.closed.size(), 1U) << "though no message came by it";
}

}  // namespace
}  // namespace league::transport::link
