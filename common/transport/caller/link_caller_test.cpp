#include "common/transport/caller/link_caller.h"

#include <gtest/gtest.h>

#include <future>
#include <set>

#include "common/transport/caller/endpoint_caller.h"
#include "common/transport/line/line_connector.h"
#include "common/transport/line/line_listener.h"
#include "tests/support/memory/faulty_connection.h"
#include "tests/support/memory/links_testing.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::caller {
namespace {

using league::testing::call_and_wait;
using league::testing::echo;
using league::testing::echo_call;
using league::testing::eventually;
using league::testing::FunctionHandler;
using league::testing::reply_with;
using std::chrono::milliseconds;

class LinkCallerTest : public ::testing::Test {
 protected:
  void serve(FunctionHandler::Function function) {
    handler_ = std::make_unique<FunctionHandler>(std::move(function));
    listener_ = *line::LineListener::start(*loop_, {}, *handler_);
  }
  void keep_all() {
    serve([this](link::Inbound message, link::ReplySlot reply) {
      std::lock_guard lock(mutex_);
      channels_.insert(message.channel->id());
      kept_.emplace_back(std::move(message.bytes), std::move(reply));
    });
  }
  std::size_t kept() {
    std::lock_guard lock(mutex_);
    return kept_.size();
  }
  std::future<link::CallOutcome> begin(std::int64_t id,
                                       milliseconds patience = milliseconds(5000)) {
    auto promise = std::make_shared<std::promise<link::CallOutcome>>();
    caller_->call(echo_call(listener_->url(), id, patience),
                  [promise](link::CallOutcome outcome) { promise->set_value(std::move(outcome)); });
    return promise->get_future();
  }
  void answer(std::size_t which) {
    std::unique_lock lock(mutex_);
    auto& [bytes, slot] = kept_.at(which);
    auto taken = std::move(slot);
    std::string text = bytes;
    lock.unlock();
    taken.send(reply_with(std::move(text)));
  }

  std::unique_ptr<link::EventLoop> loop_ =
      *link::EventLoop::start();  // what is delayed holds connections
  core::SystemClock clock_;
  core::ThreadTimer timer_;
  std::mutex mutex_;
  std::set<std::string> channels_;
  std::vector<std::pair<std::string, link::ReplySlot>> kept_;
  std::unique_ptr<FunctionHandler> handler_;
  std::unique_ptr<line::LineListener> listener_;
  line::LineConnector connector_{*loop_};
  std::unique_ptr<LinkCaller> caller_ = std::make_unique<LinkCaller>(connector_, clock_, timer_);
};

TEST_F(LinkCallerTest, OneConnectionServesManyCallsInAnyOrder) {
  keep_all();
  std::vector<std::future<link::CallOutcome>> calls;
  for (int i = 0; i < 10; ++i) calls.push_back(begin(i));
  ASSERT_TRUE(eventually([&] { return kept() == 10; }));
  EXPECT_EQ(channels_.size(), 1U);
  EXPECT_EQ(caller_->connections(), 1U);
  for (std::size_t i = 10; i-- > 0;) answer(i);
  for (int i = 0; i < 10; ++i) {
    auto outcome = calls[static_cast<std::size_t>(i)].get();
    ASSERT_FALSE(outcome.error) << outcome.error->message;
    EXPECT_NE(outcome.bytes.view().find("\"id\":" + std::to_string(i)), std::string::npos);
    EXPECT_EQ(outcome.context.transport.type, rpc::TransportType::kTcp);
    EXPECT_TRUE(outcome.sent_at);
  }
}

TEST_F(LinkCallerTest, ASecondConnectionForAnIdThatIsPending) {
  keep_all();
  auto first = begin(1);
  auto second = begin(1);
  ASSERT_TRUE(eventually([&] { return kept() == 2; }));
  EXPECT_EQ(channels_.size(), 2U);
  answer(1);
  answer(0);
  EXPECT_FALSE(first.get().error);
  EXPECT_FALSE(second.get().error);
}

TEST_F(LinkCallerTest, MoreThanTheBudgetWaits) {
  keep_all();
  std::vector<std::future<link::CallOutcome>> calls;
  for (int i = 0; i < 17; ++i) calls.push_back(begin(i));
  ASSERT_TRUE(eventually([&] { return kept() == 16; }));
  auto late = begin(100, milliseconds(30));
  EXPECT_EQ(late.get().error->code, core::ErrorCode::kTimeout);
  answer(0);
  EXPECT_TRUE(eventually([&] { return kept() == 17; }));
}

TEST_F(LinkCallerTest, ReconnectsAfterALoss) {
  serve([](link::Inbound message, link::ReplySlot reply) {
    bool is_last = message.bytes.view().find("\"id\":2,") != std::string::npos;
    auto channel = message.channel;
    if (is_last) channel->close();
    reply.send(reply_with(is_last ? std::string() : message.bytes.str()));
  });
  EXPECT_FALSE(begin(1).get().error);
  EXPECT_EQ(begin(2).get().error->code, core::ErrorCode::kConnectionError);
  EXPECT_TRUE(eventually([&] { return caller_->connections() == 0; }));
  EXPECT_FALSE(begin(3).get().error);
}

TEST_F(LinkCallerTest, NobodyListensAndSilence) {
  keep_all();
  EXPECT_EQ(begin(1, milliseconds(30)).get().error->code, core::ErrorCode::kTimeout);
  auto url = listener_->url();
  listener_->stop(milliseconds(0));
  auto outcome = call_and_wait(*caller_, echo_call(url, 2, milliseconds(5000)));
  EXPECT_EQ(outcome.error->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(outcome.error->message.find(url), std::string::npos);
}

TEST_F(LinkCallerTest, ItsEndIsTheEndOfItsCalls) {
  keep_all();
  std::vector<std::future<link::CallOutcome>> calls;
  for (int i = 0; i < 20; ++i) calls.push_back(begin(i));
  ASSERT_TRUE(eventually([&] { return kept() == 16; }));
  caller_.reset();
  for (auto& call : calls) EXPECT_EQ(call.get().error->code, core::ErrorCode::kShuttingDown);
}

TEST_F(LinkCallerTest, NoCompletionRunsInsideAnother) {
  const auto without_id = [] {
    auto call = echo_call("tcp://127.0.0.1:9", 1, milliseconds(5000));
    call.id = {};
    return call;
  };
  std::string order;
  caller_->call(without_id(), [&](const link::CallOutcome& /*first*/) {
    caller_->call(without_id(), [&](const link::CallOutcome& /*second*/) { order += "second;"; });
    order += "first;";
  });
  EXPECT_EQ(order, "first;second;");
}

TEST_F(LinkCallerTest, OneChildForACommand) {
  std::vector<std::future<link::CallOutcome>> calls;
  std::set<std::int64_t> processes;
  for (int i = 0; i < 3; ++i) {
    auto outcome = call_and_wait(*caller_, echo_call("stdio:cat", 1, milliseconds(5000)));
    ASSERT_FALSE(outcome.error) << outcome.error->message;
    processes.insert(std::get<rpc::StdioMetadata>(outcome.context.transport.metadata).process_id);
  }
  EXPECT_EQ(processes.size(), 1U);
  auto missing = call_and_wait(*caller_, echo_call("stdio:/no/such", 1, milliseconds(5000)));
  EXPECT_EQ(missing.error->code, core::ErrorCode::kConnectionError);
  auto dying = call_and_wait(*caller_, echo_call("stdio:sh -c 'exit 4'", 1, milliseconds(5000)));
  EXPECT_EQ(dying.error->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(dying.error->message.find("exit code 4"), std::string::npos) << dying.error->message;
}

TEST_F(LinkCallerTest, IdleConnectionsAreClosed) {
  serve(echo);
  LinkCallerOptions options;
  options.connection_idle = milliseconds(20);
  caller_ = std::make_unique<LinkCaller>(connector_, clock_, timer_, options);
  EXPECT_FALSE(begin(1).get().error);
  EXPECT_TRUE(eventually([&] { return caller_->connections() == 0; }));
  EXPECT_TRUE(eventually([&] { return listener_->connections() == 0; }));
}

TEST_F(LinkCallerTest, EveryCallEndsWhateverGoesWrong) {
  serve(echo);
  memory::FaultPlan plan{7, 0.05, 0.1, 0.1, 0.1, 0.02, milliseconds(5)};
  memory::FaultyConnector faulty(connector_, plan, clock_, timer_);
  caller_ = std::make_unique<LinkCaller>(faulty, clock_, timer_);
  std::vector<std::future<link::CallOutcome>> calls;
  for (int i = 0; i < 300; ++i) calls.push_back(begin(i, milliseconds(500)));
  int answered = 0;
  std::string fault;
  for (auto& call : calls) {
    auto outcome = call.get();
    answered += outcome.error ? 0 : 1;
    if (outcome.error) fault = outcome.error->message;
  }
  EXPECT_GT(answered, 0) << fault;
  EXPECT_LT(answered, 300);
  caller_.reset();
}

TEST_F(LinkCallerTest, ACallerForAllSchemesGoesByTheScheme) {
  serve(echo);
  auto caller = *StandaloneCaller::create();
  EXPECT_FALSE(call_and_wait(*caller, echo_call(listener_->url(), 1, milliseconds(5000))).error);
  auto http = call_and_wait(*caller, echo_call("http://127.0.0.1:1/", 1, milliseconds(5000)));
  EXPECT_EQ(http.error->code, core::ErrorCode::kConnectionError);
  EXPECT_NE(http.error->message.find("no connection to http://127.0.0.1:1/"), std::string::npos);
  EXPECT_EQ(call_and_wait(*caller, echo_call("nats:manager", 1, milliseconds(5000))).error->code,
            core::ErrorCode::kEndpointNotAllowed);
}

}  // namespace
}  // namespace league::transport::caller
