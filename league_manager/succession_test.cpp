#include "league_manager/succession.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "common/transport/signals.h"
#include "league_manager/succession_test_support.h"

namespace league::league_manager {
namespace {

using namespace std::chrono_literals;
using testing::JetAgent;
using testing::JetAnswers;

/// A manager but for its league.
class StandIn {
 public:
  StandIn(const std::string& url, std::chrono::milliseconds lease, bool is_standby,
          bool is_new = false)
      : agent_(url) {
    SuccessionOptions options;
    options.league = testing::kStandbyLeague;
    options.begins_leagues = !is_standby;
    options.starts_anew = is_new;
    options.lease = lease;
    options.on_fenced = [this](const std::string& why) { fenced.add(why); };
    succession = std::make_unique<Succession>(
        SuccessionDependencies{*agent_.bus, transport::BusSession::make(random_), clock_,
                               agent_.timer, random_},
        std::move(options));
  }
  ~StandIn() {
    stop.request_stop();
    if (led_.valid()) led_.wait();
    succession.reset();
  }
  /// On a thread of its own.
  void begin() {
    led_ = std::async(std::launch::async, [this] { return succession->lead(journal, stop); });
  }
  bool has_led(std::chrono::milliseconds patience = 20s) {
    if (led_.wait_for(patience) != std::future_status::ready) return false;
    auto led = led_.get();
    EXPECT_TRUE(led) << led.error().message;
    return led && *led;
  }
  core::Error refusal() {
    auto led = led_.get();
    return led ? core::Error{} : led.error();
  }
  void write(std::vector<journal::Record> records) {
    ASSERT_TRUE(journal::append_and_wait(succession->journal(), std::move(records)));
  }

  transport::StopSignal stop;
  journal::MemoryJournal journal;
  JetAnswers<std::string> fenced;

 private:
  core::SystemClock clock_;
  core::CryptoRandom random_;
  JetAgent agent_;

 public:
  std::unique_ptr<Succession> succession;

 private:
  std::future<core::Result<bool>> led_;
};

class SuccessionTest : public testing::StandbyTest {
 protected:
  std::unique_ptr<StandIn> start(bool is_standby, bool is_new = false) {
    auto made = std::make_unique<StandIn>(broker->url(), lease, is_standby, is_new);
    made->begin();
    return made;
  }
};

TEST_F(SuccessionTest, TheNextOneHasEverything) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 10));
  auto second = start(true);
  auto until = agent->in(20s);
  while (second->journal.size() < 10 && agent->in(0s) < until) std::this_thread::yield();
  first->write(records(10, 5));
  auto term = first->succession->term();
  first->succession->finish();
  ASSERT_TRUE(second->has_led());
  EXPECT_GT(second->succession->term(), term);
  EXPECT_EQ(written(second->journal), records(0, 15));
  second->write(records(15, 1));
  EXPECT_EQ(published(), records(0, 16));
  EXPECT_FALSE(first->succession->is_leading());
  EXPECT_EQ(first->fenced.count(), 0U) << "it has given the lead back";
}

TEST_F(SuccessionTest, TheOldOneIsFenced) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  broker->freeze();
  ASSERT_TRUE(first->fenced.next());
  EXPECT_FALSE(first->succession->is_leading());
  broker->thaw();
  auto second = start(true);
  ASSERT_TRUE(second->has_led());
  EXPECT_EQ(written(second->journal), records(0, 3));
}

TEST_F(SuccessionTest, ABrokerThatHasLostEverythingCostsNothing) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  auto second = start(true);
  first->write(records(0, 5));
  auto until = agent->in(20s);
  while (second->journal.size() < 5 && agent->in(0s) < until) std::this_thread::yield();
  broker->kill();
  std::filesystem::remove_all(directory.path());
  broker->start();
  EXPECT_TRUE(first->fenced.next());
  ASSERT_TRUE(second->has_led());
  second->write(records(5, 1));
  EXPECT_EQ(written(second->journal), records(0, 6));
  EXPECT_EQ(published(), records(0, 6)) << "what the stream lacks is published again";
}

TEST_F(SuccessionTest, AStandByBeginsNoLeague) {
  auto standby = start(true);
  EXPECT_FALSE(standby->has_led(lease * 3 / 2));
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 1));
  EXPECT_FALSE(standby->has_led(lease * 3 / 2));
  first->succession->finish();
  EXPECT_TRUE(standby->has_led());
}

TEST_F(SuccessionTest, OneIsEnough) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  auto second = start(false);
  EXPECT_FALSE(second->has_led(lease * 3 / 2)) << "it follows";
  first->succession->finish();
  EXPECT_TRUE(second->has_led());
}

TEST_F(SuccessionTest, ALeagueThatWasNotReplicatedIsPublished) {
  auto first = std::make_unique<StandIn>(broker->url(), lease, false);
  ASSERT_TRUE(journal::append_and_wait(first->journal, records(0, 20)));
  first->begin();
  ASSERT_TRUE(first->has_led());
  first->write(records(20, 1));
  EXPECT_EQ(published(), records(0, 21));
}

TEST_F(SuccessionTest, ANewLeagueTakesTheOldOnesPlace) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  first->succession->finish();
  auto second = start(false, true);
  ASSERT_TRUE(second->has_led());
  EXPECT_EQ(second->journal.size(), 0U);
  second->write(records(50, 2));
  EXPECT_EQ(published(), records(50, 2));
}

TEST_F(SuccessionTest, ADirectoryThatWentAnotherWayIsRefused) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  auto other = std::make_unique<StandIn>(broker->url(), lease, false);
  ASSERT_TRUE(journal::append_and_wait(other->journal, records(40, 2)));
  other->begin();
  EXPECT_NE(other->refusal().message.find("--new"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager
