#include "common/transport/caller/connection_client.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/memory/links_testing.h"
#include "tests/support/memory/memory_connection.h"

namespace league::transport::caller {
namespace {

using league::testing::NotingReceiver;
using league::testing::outbound;
using std::chrono::seconds;

/// A connection whose receiver the test calls.
class ScriptedEnd final : public link::MessageConnection {
 public:
  void start(std::shared_ptr<link::MessageReceiver> its_receiver) override {
    receiver = std::move(its_receiver);
  }
  void send(link::OutboundMessage message) override {
    if (message.done) message.done({});
  }
  void set_reading(bool /*is_on*/) override {}
  void close() override {}
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kMemory;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return rpc::TransportContext::memory();
  }
  std::shared_ptr<link::MessageReceiver> receiver;
};

class ConnectionClientTest : public ::testing::Test {
 protected:
  void SetUp() override { begin({}); }
  void begin(ConnectionClientOptions options) {
    options.peer = "memory";
    options.max_pending = 3;
    auto ends =
        memory::memory_connection_pair(time_, [this](auto step) { steps_.post(std::move(step)); });
    server_ = ends.second;
    server_->start(receiver_);
    begin_on(ends.first, std::move(options));
  }
  void begin_on(std::shared_ptr<link::MessageConnection> connection,
                ConnectionClientOptions options = {}) {
    client_ =
        ConnectionClient::start(std::move(connection), executor_, time_, time_, std::move(options));
  }
  void request(std::int64_t id) {
    auto message = outbound(R"({"id":)" + std::to_string(id) + R"(,"method":"m"})");
    message.deadline = time_.steady_now() + seconds(5);
    tasks_.spawn(note_outcome(id, rpc::Id(id), std::move(message)));
  }
  /// Notes how the request ended, and `name`.
  task::Task<void> note_outcome(std::int64_t name, rpc::Id id, link::OutboundMessage message) {
    auto outcome = co_await client_->request(std::move(id), std::move(message));
    order_.push_back(name);
    outcomes_.push_back(std::move(outcome));
  }
  void answer(const std::string& bytes) {
    server_->send(outbound(bytes));
    steps_.run_until_idle();
  }

  league::testing::FakeTime time_;
  memory::MemorySteps steps_;
  std::shared_ptr<NotingReceiver> receiver_ = std::make_shared<NotingReceiver>();
  std::shared_ptr<link::MessageConnection> server_;
  std::vector<std::int64_t> order_;
  std::vector<link::CallOutcome> outcomes_;
  const task::Executor executor_;
  task::Scope tasks_{executor_, [](const std::exception_ptr&) { ADD_FAILURE() << "it threw"; }};
  std::shared_ptr<ConnectionClient> client_;  // last: its end completes requests
};

TEST_F(ConnectionClientTest, AnswersComeInAnyOrder) {
  request(1);
  request(2);
  EXPECT_EQ(client_->pending(), 2U);
  steps_.run_until_idle();
  time_.advance(seconds(1));
  answer(R"({"id":2,"result":"b"})");
  answer(R"({"id":1,"error":{}})");
  EXPECT_EQ(order_, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(outcomes_[0].bytes, R"({"id":2,"result":"b"})");
  EXPECT_EQ(outcomes_[0].elapsed, seconds(1));
  EXPECT_TRUE(outcomes_[0].sent_at);
  EXPECT_EQ(outcomes_[0].context.transport.type, rpc::TransportType::kMemory);
  EXPECT_EQ(client_->pending(), 0U);
  EXPECT_EQ(time_.waiting(), 0U);
}

TEST_F(ConnectionClientTest, LateAndUnknownAnswersAreDropped) {
  request(1);
  time_.advance(seconds(5));
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, core::ErrorCode::kTimeout);
  answer(R"({"id":1,"result":1})");
  answer(R"({"id":null,"error":{}})");
  EXPECT_EQ(outcomes_.size(), 1U);
}

TEST_F(ConnectionClientTest, RefusesWhatItCannotTellApartOrHold) {
  request(1);
  request(1);
  tasks_.spawn(note_outcome(-1, rpc::Id(), outbound("{}")));
  EXPECT_EQ(outcomes_.at(0).error->code, core::ErrorCode::kInternalError);
  EXPECT_EQ(outcomes_.at(1).error->code, core::ErrorCode::kInternalError);
  request(2);
  request(3);
  request(4);
  EXPECT_EQ(outcomes_.at(2).error->code, core::ErrorCode::kOverloaded);
  EXPECT_EQ(order_, (std::vector<std::int64_t>{1, -1, 4}));
}

TEST_F(ConnectionClientTest, TheEndFailsWhatIsPending) {
  request(1);
  steps_.run_until_idle();
  server_->close();
  steps_.run_until_idle();
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, core::ErrorCode::kConnectionError);
  EXPECT_FALSE(client_->is_open());
  request(2);
  EXPECT_EQ(outcomes_.at(1).error->code, core::ErrorCode::kConnectionError);
}

/// A connection whose messages are kept by the test, as HTTP keeps each in an exchange of its own.
class KeepingConnection final : public link::MessageConnection {
 public:
  void start(std::shared_ptr<link::MessageReceiver> /*receiver*/) override {}
  void send(link::OutboundMessage message) override { sent.push_back(std::move(message)); }
  void set_reading(bool /*is_on*/) override {}
  void close() override {}
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return rpc::TransportType::kMemory;
  }
  [[nodiscard]] rpc::TransportContext current_context() const override { return {}; }

  std::vector<link::OutboundMessage> sent;
};

TEST_F(ConnectionClientTest, AnAnswerThatBreaksOffFailsItsRequestAlone) {
  auto connection = std::make_shared<KeepingConnection>();
  begin_on(connection);
  request(1);
  request(2);
  ASSERT_EQ(connection->sent.size(), 2U);
  connection->sent[0].done({});
  connection->sent[0].lost({core::ErrorCode::kConnectionError, "the stream broke off", {}});
  ASSERT_EQ(order_, std::vector<std::int64_t>{1}) << "at once, not at its deadline";
  EXPECT_EQ(outcomes_[0].error->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(outcomes_[0].error->message.find("the stream broke off"), std::string::npos);
  EXPECT_EQ(client_->pending(), 1U);
}

TEST_F(ConnectionClientTest, ItsOwnEndFailsWhatIsPendingAtOnce) {
  request(1);
  client_.reset();
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, core::ErrorCode::kShuttingDown);
  steps_.run_until_idle();
  EXPECT_TRUE(receiver_->wait_for_end());
}

TEST_F(ConnectionClientTest, AnswersPingsAndRefusesOtherRequests) {
  answer(R"({"id":"p","method":"ping"})");
  answer(R"({"id":8,"method":"sampling"})");
  auto got = receiver_->wait_for(2);
  EXPECT_EQ(got[0], R"({"jsonrpc":"2.0","id":"p","result":{}})");
  EXPECT_NE(got[1].find("-32601"), std::string::npos);
}

TEST_F(ConnectionClientTest, PassesOnWhatIsNoAnswer) {
  std::vector<std::string> others;
  ConnectionClientOptions options;
  options.on_other = [&](link::ReceivedMessage message) { others.push_back(message.bytes.str()); };
  client_.reset();
  begin(std::move(options));
  for (std::string bytes : {R"({"id":8,"method":"m"})", R"({"method":"n"})", "[]", "nonsense",
                            R"({"id":1,"method":"ping"})"}) {
    answer(bytes);
  }
  EXPECT_EQ(others, (std::vector<std::string>{R"({"id":8,"method":"m"})", R"({"method":"n"})", "[]",
                                              "nonsense"}));
}

TEST_F(ConnectionClientTest, AnAnswerThatIsTooLargeFailsItsRequestOnly) {
  auto end = std::make_shared<ScriptedEnd>();
  begin_on(end);
  request(1);
  request(2);
  auto peer = end->receiver;
  peer->on_oversized({rpc::FrameKind::kRequest, rpc::Id(1), "ping"}, "too long");
  peer->on_oversized({rpc::FrameKind::kOther, {}, ""}, "too long");
  peer->on_oversized({rpc::FrameKind::kResponse, rpc::Id(9), ""}, "too long");
  EXPECT_EQ(client_->pending(), 2U);
  peer->on_oversized({rpc::FrameKind::kResponse, rpc::Id(1), ""}, "too long");
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_.at(0).error->code, core::ErrorCode::kReplyTooLarge);
  peer->on_message({{R"({"id":2,"result":{}})", {}}});
  EXPECT_FALSE(outcomes_.at(1).error);
}

TEST_F(ConnectionClientTest, AbandonedRequestsAreForgotten) {
  request(1);
  EXPECT_TRUE(client_->abandon(rpc::Id(1), {core::ErrorCode::kTimeout, "cancelled", {}}));
  EXPECT_FALSE(client_->abandon(rpc::Id(1), {}));
  EXPECT_EQ(outcomes_.at(0).error->message, "cancelled");
}

}  // namespace
}  // namespace league::transport::caller
