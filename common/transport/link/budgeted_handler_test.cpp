#include "common/transport/link/budgeted_handler.h"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::link::budgeted_handler_tests {
namespace {

RequestBudgetOptions one_request() {
  RequestBudgetOptions options;
  options.burst = std::chrono::seconds(1);
  options.allowances.fill({1, 1000});
  return options;
}

class BudgetedHandlerTest : public ::testing::Test {
 protected:
  OutboundReply ask(std::string bytes, rpc::TransportType type = rpc::TransportType::kTcp,
                    std::shared_ptr<LogMeter> meter = nullptr) {
    Inbound message;
    message.bytes = std::move(bytes);
    message.context = rpc::MessageContext::now(
        time_, rpc::MessageDirection::kUnknown,
        rpc::TransportContext::socket(type).with_connection(std::make_shared<rpc::ConnectionInfo>(
            rpc::ConnectionInfo{"10.0.0.1:4711", "", "c", std::nullopt})));
    message.meter = std::move(meter);
    OutboundReply answer;
    handler_.on_message(std::move(message),
                        ReplySlot([&](OutboundReply reply) { answer = std::move(reply); }));
    return answer;
  }

  league::testing::FakeTime time_;
  RateLimiter limiter_{one_request(),
                       [](std::string_view, std::string_view, std::string_view) {
                         return std::optional<RequestSender>();
                       },
                       time_};
  int handled_ = 0;
  std::shared_ptr<LogMeter> meter_;
  league::testing::FunctionHandler inner_{[this](Inbound message, ReplySlot reply) {
    ++handled_;
    meter_ = message.meter;
    OutboundReply answer;
    answer.bytes = "{}";
    reply.send(std::move(answer));
  }};
  BudgetedHandler handler_{inner_, limiter_};
};

TEST_F(BudgetedHandlerTest, AnswersWhatIsBeyondTheBudgetWithAnErrorThatCarriesTheId) {
  EXPECT_EQ(ask(R"({"id":1,"method":"ping"})").bytes, "{}");
  EXPECT_NE(meter_, nullptr) << "the log counts for the sender";
  EXPECT_NE(ask(R"({"id":"two","method":"ping"})").bytes.view().find(R"("id":"two"})"),
            std::string::npos);
  EXPECT_EQ(handled_, 1);
  time_.advance(std::chrono::seconds(1));
  EXPECT_EQ(ask(R"({"id":3,"method":"ping"})").bytes, "{}");
}

TEST_F(BudgetedHandlerTest, NobodyIsAnsweredWhoDoesNotWait) {
  (void)ask("{}");
  EXPECT_EQ(ask(R"({"method":"notifications/initialized"})").bytes, "");
  EXPECT_EQ(ask(R"({"id":1,"result":{}})").bytes, "");
  EXPECT_EQ(handled_, 1);
}

TEST_F(BudgetedHandlerTest, WhatHasPassedALimiterOrComesFromTheParentIsNotChargedAgain) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(ask("{}", rpc::TransportType::kStdio).bytes, "{}");
    EXPECT_EQ(ask("{}", rpc::TransportType::kTcp, std::make_shared<LogMeter>()).bytes, "{}");
  }
}

}  // namespace
}  // namespace league::transport::link::budgeted_handler_tests
