#include "common/transport/caller/endpoint_caller.h"

#include <gtest/gtest.h>

#include <deque>

#include "common/transport/link/rate_limiter.h"
#include "tests/support/fake_clock.h"

namespace league::transport::caller::endpoint_caller_tests {
namespace {

using core::ErrorCode;
using std::chrono::milliseconds;
using std::chrono::seconds;

link::CallOutcome outcome_of(int status, std::string bytes) {
  link::CallOutcome outcome;
  outcome.http_status = status;
  outcome.bytes = std::move(bytes);
  return outcome;
}

link::CallOutcome refused(milliseconds retry_after, int status = 429) {
  return outcome_of(status, link::over_budget_body(retry_after, "1"));
}

/// Gives the outcomes that it was told to, in their order, and then success.
class ScriptedCaller final : public link::Caller {
 public:
  explicit ScriptedCaller(std::deque<link::CallOutcome> outcomes)
      : outcomes_(std::move(outcomes)) {}
  void call(link::OutboundCall /*call*/, Completion completion) override {
    link::CallOutcome next = outcome_of(200, "{}");
    if (!outcomes_.empty()) {
      next = std::move(outcomes_.front());
      outcomes_.pop_front();
    }
    completion(std::move(next));
  }

 private:
  std::deque<link::CallOutcome> outcomes_;
};

class EndpointCallerTest : public ::testing::Test {
 protected:
  void begin(std::deque<link::CallOutcome> outcomes, milliseconds time_limit = seconds(10)) {
    caller_ = std::make_unique<EndpointCaller>(
        EndpointCaller::Callers{nullptr, nullptr,
                                std::make_unique<ScriptedCaller>(std::move(outcomes))},
        time_, time_);
    link::OutboundCall call;
    call.deadline = time_.steady_now() + time_limit;
    caller_->call(std::move(call), [this](link::CallOutcome outcome) { ends_.push_back(outcome); });
  }

  league::testing::FakeTime time_;
  std::unique_ptr<EndpointCaller> caller_;
  std::vector<link::CallOutcome> ends_;
};

TEST_F(EndpointCallerTest, WaitsAsLongAsItIsToldAndTriesAgain) {
  begin({refused(milliseconds(700)), refused(seconds(2), 0)});
  EXPECT_TRUE(ends_.empty());
  time_.advance(milliseconds(699));
  EXPECT_EQ(time_.waiting(), 1U);
  time_.advance(milliseconds(1));
  time_.advance(milliseconds(1999));
  EXPECT_TRUE(ends_.empty());
  time_.advance(milliseconds(1));
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].http_status, 200);
}

TEST_F(EndpointCallerTest, WaitsLongerFromRefusalToRefusal) {
  begin(std::deque<link::CallOutcome>(4, refused(milliseconds(1))));
  time_.advance(milliseconds(100 + 200 + 400 + 800 - 1));
  EXPECT_TRUE(ends_.empty());
  time_.advance(milliseconds(1));
  EXPECT_EQ(ends_.size(), 1U);
}

TEST_F(EndpointCallerTest, TheRefusalStandsWhereTheDeadlineComesBefore) {
  begin({refused(seconds(60))});
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].http_status, 429);
  EXPECT_EQ(time_.waiting(), 0U);
}

TEST_F(EndpointCallerTest, EndsWhatWaitsOnce) {
  begin({refused(seconds(1))});
  caller_.reset();
  ASSERT_EQ(ends_.size(), 1U);
  EXPECT_EQ(ends_[0].error->code, ErrorCode::kShuttingDown);
  time_.advance(seconds(5));
  EXPECT_EQ(ends_.size(), 1U);
}

TEST(WaitAskedFor, ReadsTheBodyOrTheHeader) {
  EXPECT_EQ(wait_asked_for(refused(milliseconds(70))), milliseconds(70));
  EXPECT_EQ(wait_asked_for(outcome_of(429, "")), seconds(1)) << "nothing is said";
  auto headers = std::make_shared<rpc::HeaderMap>();
  headers->emplace("retry-after", "3");
  link::CallOutcome foreign = outcome_of(429, "slow down");
  foreign.context.transport = rpc::TransportContext::http(headers, "POST", {});
  EXPECT_EQ(wait_asked_for(foreign), seconds(3));
}

TEST(WaitAskedFor, IsNothingForEverythingElse) {
  EXPECT_FALSE(wait_asked_for(outcome_of(200, "{}")));
  EXPECT_FALSE(wait_asked_for(refused(seconds(1), 200))) << "the status says that it was answered";
  EXPECT_FALSE(wait_asked_for(outcome_of(503, "")));
  EXPECT_FALSE(wait_asked_for(outcome_of(0, R"({"result":{"retry_after_ms":5}})")));
  link::CallOutcome failed = refused(seconds(1));
  failed.error = core::Error{ErrorCode::kTimeout, "", ""};
  EXPECT_FALSE(wait_asked_for(failed));
  EXPECT_EQ(wait_asked_for(outcome_of(
                429, R"({"error":{"data":{"retry_after_ms":99999999999999999999999}}})")),
            seconds(1));
  EXPECT_EQ(wait_asked_for(outcome_of(429, R"({"error":{"data":{"retry_after_ms":-5}}})")),
            seconds(1));
}

}  // namespace
}  // namespace league::transport::caller::endpoint_caller_tests
