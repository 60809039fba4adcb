#include "bus/agent/nats_host.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "tests/support/fake_clock.h"

namespace league::agent::bus {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// A bus whose broker answers when the test lets it.
class HeldBus final : public transport::bus::Bus {
 public:
  core::Result<void> publish(const transport::bus::BusMessage& /*message*/) override { return {}; }
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& /*subject*/,
                                                        const std::string& /*queue*/,
                                                        Handler /*handler*/) override {
    return std::unique_ptr<Subscription>();
  }
  std::unique_ptr<Subscription> watch(StateHandler /*handler*/) override { return nullptr; }
  [[nodiscard]] bool is_connected() const override { return true; }
  bool flush(milliseconds /*patience*/) override {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return answers_; });
    return true;
  }
  [[nodiscard]] std::size_t max_payload() const override { return 1 << 20; }
  [[nodiscard]] std::string url() const override { return "held://broker"; }

  void answer(bool answers) {
    std::lock_guard lock(mutex_);
    answers_ = answers;
    changed_.notify_all();
  }
  void wait_until_asked() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return asked_ > 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool answers_ = true;
  int asked_ = 0;
};

class BusEchoTest : public ::testing::Test {
 protected:
  ~BusEchoTest() override { bus_.answer(true); }

  testing::FakeTime time_;
  HeldBus bus_;
};

TEST_F(BusEchoTest, ABrokerThatAnswersTakesNoTime) {
  auto begun = time_.steady_now();
  const auto echo = measure_broker(bus_, time_, time_);
  bus_.wait_until_asked();
  echo->stop();  // after the echo that it waits for
  time_.advance(seconds(1));
  EXPECT_EQ(echo->worst_since(begun).count(), 0);
}

TEST_F(BusEchoTest, ABrokerThatIsSilentCountsWhileItIsAndIsRememberedForItsTime) {
  bus_.answer(false);
  auto begun = time_.steady_now();
  const auto echo = measure_broker(bus_, time_, time_);
  bus_.wait_until_asked();
  time_.advance(seconds(3));
  EXPECT_EQ(echo->worst_since(begun), seconds(3));
  EXPECT_EQ(echo->worst_since(time_.steady_now()), seconds(3)) << "it is silent just now";
  bus_.answer(true);
  echo->stop();
  auto ended = time_.steady_now();
  EXPECT_EQ(echo->worst_since(begun), seconds(3));
  time_.advance(milliseconds(1));
  EXPECT_EQ(echo->worst_since(ended + milliseconds(1)).count(), 0);
}

}  // namespace
}  // namespace league::agent::bus
