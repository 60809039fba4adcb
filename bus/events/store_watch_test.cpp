#include "bus/events/store_watch.h"

#include <gtest/gtest.h>

#include "bus/transport/memory_bus_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory/memory_connection.h"

namespace league::league_manager::bus {
namespace {

using namespace std::chrono_literals;
using transport::bus::BusMessage;

/// A broker that says of each stream what the test wants.
class StoreWatchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    answers_ = *broker_bus_->subscribe("$JS.API.STREAM.INFO.*", "", [this](BusMessage asked) {
      ++asked_;
      (void)broker_bus_->publish({asked.reply, {}, {}, answer_, false});
    });
    streams_ = *transport::bus::JetStream::create(
        {*bus_, *transport::link::BusSession::parse("manager-1"), time_, time_, random_});
    watch_ = std::make_unique<StoreWatch>(
        *streams_, time_, time_,
        std::vector<WatchedStore>{{[] { return std::string("EVENTS"); }, "the oldest go"}},
        [this](const std::string& notice) { notices_.push_back(notice); });
  }
  void TearDown() override {
    watch_.reset();
    streams_.reset();
    answers_.reset();
    steps_.run_until_idle();
  }
  /// The next look finds so much of 100 MiB.
  void look_at(int mebibytes) {
    answer_ = R"({"config":{"max_bytes":104857600},"state":{"messages":1,"bytes":)" +
              std::to_string(std::int64_t{mebibytes} << 20) + "}}";
    pass(30s);
  }
  void pass(std::chrono::seconds time) {
    for (auto passed = 0s; passed < time; passed += 1s) {
      time_.advance(1s);
      steps_.run_until_idle();
    }
  }

  testing::FakeTime time_;
  core::CryptoRandom random_;
  transport::memory::MemorySteps steps_;
  transport::memory::MemoryBroker broker_{[this](auto step) { steps_.post(std::move(step)); }};
  std::unique_ptr<transport::bus::Bus> broker_bus_ = broker_.connect("broker");
  std::unique_ptr<transport::bus::Bus> bus_ = broker_.connect("manager");
  std::unique_ptr<transport::bus::Bus::Subscription> answers_;
  std::unique_ptr<transport::bus::JetStream> streams_;
  std::unique_ptr<StoreWatch> watch_;
  std::string answer_;
  int asked_ = 0;
  std::vector<std::string> notices_;
};

TEST_F(StoreWatchTest, SaysOnceThatAStoreIsNearlyFull) {
  look_at(69);
  EXPECT_EQ(asked_, 1);
  EXPECT_TRUE(notices_.empty());
  look_at(70);
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_EQ(notices_[0],
            "the broker's stream EVENTS is 70 % full (70 MiB of 100 MiB): the oldest go");
  look_at(100);
  look_at(65);
  look_at(71);
  EXPECT_EQ(notices_.size(), 1U) << "it was never far below";
  look_at(10);
  look_at(71);
  EXPECT_EQ(notices_.size(), 2U);
}

TEST_F(StoreWatchTest, SaysAtTheStartThatTheBrokerHasNoRoom) {
  auto watch_for = [this](std::int64_t wanted) {
    watch_ = std::make_unique<StoreWatch>(
        *streams_, time_, time_,
        std::vector<WatchedStore>{{[] { return std::string("EVENTS"); }, "the oldest go", wanted}},
        [this](const std::string& notice) { notices_.push_back(notice); });
  };
  answer_ = R"({"config":{"max_bytes":65536},"state":{"messages":1,"bytes":0}})";
  watch_for(65536);
  pass(60s);
  EXPECT_TRUE(notices_.empty());
  watch_for(std::int64_t{256} << 20);
  pass(3s);
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_TRUE(
      notices_[0].starts_with("the broker has no room to reserve 256 MiB for the stream "
                              "EVENTS: it has a limit of 64 KiB instead; the oldest go. "))
      << notices_[0];
  answer_ = R"({"config":{"max_bytes":-1},"state":{"messages":1,"bytes":0}})";
  pass(60s);
  EXPECT_EQ(notices_.size(), 1U) << "once";
}

TEST_F(StoreWatchTest, HasNothingToSayOfWhatHasNoLimitOrIsNotThere) {
  answer_ = R"({"config":{"max_bytes":-1},"state":{"messages":1,"bytes":99999999999}})";
  pass(30s);
  answer_ = R"({"error":{"code":404,"err_code":10059,"description":"stream not found"}})";
  pass(30s);
  answer_ = "no JSON";
  pass(30s);
  EXPECT_EQ(asked_, 3);
  EXPECT_TRUE(notices_.empty());
}

}  // namespace
}  // namespace league::league_manager::bus
