#include "common/agent/runtime/delay_meter.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/support/fake_clock.h"

namespace league::agent::runtime {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A Caller whose canaries come back when the test says so.
class HeldCaller final : public transport::link::Caller {
 public:
  void call(transport::link::OutboundCall call, Completion completion) override {
    EXPECT_EQ(call.budget, transport::link::Budget::kGame);
    held.push_back(std::move(completion));
  }
  void release() {
    for (auto& completion : std::exchange(held, {})) completion(transport::link::CallOutcome());
  }
  std::vector<Completion> held;
};

class DelayMeterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = *transport::front::HttpRuntime::start();
    auto meter = ProbingDelayMeter::start(*runtime_, caller_, time_, time_, nullptr);
    ASSERT_TRUE(meter) << meter.error().message;
    meter_ = std::move(*meter);
  }
  /// Time passes, and every timer fires when it is due.
  void pass(milliseconds span) {
    for (auto rest = span; rest > rest.zero(); rest -= milliseconds(5)) {
      time_.advance(milliseconds(5));
      caller_.release();
    }
  }

  testing::FakeTime time_;
  HeldCaller caller_;
  std::unique_ptr<transport::front::HttpRuntime> runtime_;
  std::unique_ptr<ProbingDelayMeter> meter_;
};

TEST_F(DelayMeterTest, APunctualMachineHasNoDelay) {
  auto begun = time_.steady_now();
  pass(seconds(3));
  EXPECT_EQ(meter_->worst_since(begun, Route::kDirect), core::OwnDelay{});
}

TEST_F(DelayMeterTest, ACanaryThatTakesLongIsRememberedForItsTime) {
  pass(seconds(1));
  auto begun = time_.steady_now();
  time_.advance(milliseconds(250));  // a canary leaves within these
  time_.advance(milliseconds(400));
  auto meanwhile = meter_->worst_since(begun, Route::kDirect).canary;
  EXPECT_GE(meanwhile, milliseconds(400)) << "one that is still away counts, too";
  caller_.release();
  EXPECT_GE(meter_->worst_since(begun, Route::kDirect).canary, meanwhile);
  pass(seconds(1));
  EXPECT_GE(meter_->worst_since(begun, Route::kDirect).canary, meanwhile);
  EXPECT_EQ(
      meter_->worst_since(time_.steady_now() - milliseconds(200), Route::kDirect).canary.count(),
      0);
}

TEST_F(DelayMeterTest, AMachineThatStandsStillIsNoticedBeforeTheTimerRuns) {
  pass(seconds(1));
  auto begun = time_.steady_now();
  time_.jump(seconds(2));  // no timer fires
  EXPECT_GE(meter_->worst_since(begun, Route::kDirect).scheduling, seconds(2) - milliseconds(25));
  time_.advance(milliseconds(1));
  EXPECT_GE(meter_->worst_since(begun, Route::kDirect).scheduling, seconds(2) - milliseconds(25));
}

}  // namespace
}  // namespace league::agent::runtime
