#include "league_manager/standby/standby_takeover.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <filesystem>
#include <future>
#include <thread>

#include "common/transport/link/signals.h"
#include "league_manager/standby/standby_takeover_testing.h"

namespace league::league_manager::standby {
namespace {

using namespace std::chrono_literals;
using testing::JetAgent;
using testing::JetAnswers;

/// May keep back what is asked about the journal's stream, as if nobody had it.
class JournalessBus final : public transport::bus::Bus {
 public:
  explicit JournalessBus(transport::bus::Bus& bus) : bus_(bus) {}
  core::Result<void> publish(const transport::bus::BusMessage& message) override {
    bool is_kept_back =
        is_silent && message.subject.starts_with("$JS.API.STREAM.INFO.LEAGUE_JOURNAL_");
    return is_kept_back ? core::Result<void>() : bus_.publish(message);
  }
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                        const std::string& queue,
                                                        Handler handler) override {
    return bus_.subscribe(subject, queue, std::move(handler));
  }
  std::unique_ptr<Subscription> watch(StateHandler handler) override {
    return bus_.watch(std::move(handler));
  }
  [[nodiscard]] bool is_connected() const override { return bus_.is_connected(); }
  bool flush(std::chrono::milliseconds patience) override { return bus_.flush(patience); }
  [[nodiscard]] std::size_t max_payload() const override { return bus_.max_payload(); }
  [[nodiscard]] std::string url() const override { return bus_.url(); }
  std::atomic<bool> is_silent = false;

 private:
  transport::bus::Bus& bus_;
};

/// What is said in the meantime.
class CapturedLog final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// Waits for something that begins with it.
  bool has(const std::string& beginning) {
    for (;;) {
      auto next = said_.next();
      if (!next || next->starts_with(beginning)) return next.has_value();
    }
  }

 private:
  void sink_it_(const spdlog::details::log_msg& message) override {
    said_.add(std::string(message.payload.data(), message.payload.size()));
  }
  void flush_() override {}
  JetAnswers<std::string> said_;
};

/// A manager but for its league.
class TestManager {
 public:
  TestManager(const std::string& url, std::chrono::milliseconds lease, bool is_standby,
              bool is_new = false, std::optional<Replication> replication = std::nullopt)
      : agent_(url) {
    StandbyTakeoverOptions options;
    options.league = testing::kStandbyLeague;
    options.begins_leagues = !is_standby;
    options.starts_anew = is_new;
    options.replication = replication;
    options.lease = lease;
    options.on_fenced = [this](const std::string& why) { fenced.add(why); };
    takeover = std::make_unique<StandbyTakeover>(
        StandbyTakeoverDependencies{bus, transport::link::BusSession::make(random_), clock_,
                                    agent_.timer, random_},
        std::move(options));
  }
  ~TestManager() {
    stop.request_stop();
    if (led_.valid()) led_.wait();
    takeover.reset();
  }
  /// On a thread of its own.
  void begin() {
    led_ = std::async(std::launch::async, [this] { return takeover->lead(journal, stop); });
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
  void write(std::vector<journal::EventRecord> records) {
    ASSERT_TRUE(journal::append_and_wait(takeover->journal(), std::move(records)));
  }

  transport::link::StopSignal stop;
  journal::MemoryJournal journal;
  JetAnswers<std::string> fenced;

 private:
  core::SystemClock clock_;
  core::CryptoRandom random_;
  JetAgent agent_;

 public:
  JournalessBus bus{*agent_.bus};
  std::unique_ptr<StandbyTakeover> takeover;

 private:
  std::future<core::Result<bool>> led_;
};

class StandbyTakeoverTest : public testing::StandbyTest {
 protected:
  std::unique_ptr<TestManager> start(bool is_standby, bool is_new = false,
                                     std::optional<Replication> replication = std::nullopt) {
    auto made =
        std::make_unique<TestManager>(broker->url(), lease, is_standby, is_new, replication);
    made->begin();
    return made;
  }
};

TEST_F(StandbyTakeoverTest, TheNextOneWaitsForAStandbyAsTheFirstDid) {
  auto first = start(false, false, Replication::kSync);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  first->takeover->serve();
  auto second = start(true);
  auto until = agent->in(20s);
  while (second->journal.size() < 3 && agent->in(0s) < until) std::this_thread::yield();
  first->takeover->finish();
  ASSERT_TRUE(second->has_led());
  second->takeover->serve();
  JetAnswers<bool> durable;
  second->takeover->journal().append(records(3, 1), [&](const core::Result<void>& stored) {
    durable.add(static_cast<bool>(stored));
  });
  until = agent->in(20s);
  while (second->journal.size() < 4 && agent->in(0s) < until) std::this_thread::yield();
  EXPECT_EQ(second->journal.size(), 4U);
  EXPECT_EQ(durable.count(), 0U) << "no other manager has it";
  auto third = start(true);
  EXPECT_EQ(durable.next(), true);
  third.reset();
  second.reset();
}

TEST_F(StandbyTakeoverTest, TheNextOneHasEverything) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 10));
  auto second = start(true);
  auto until = agent->in(20s);
  while (second->journal.size() < 10 && agent->in(0s) < until) std::this_thread::yield();
  first->write(records(10, 5));
  auto term = first->takeover->term();
  first->takeover->finish();
  ASSERT_TRUE(second->has_led());
  EXPECT_GT(second->takeover->term(), term);
  EXPECT_EQ(written(second->journal), records(0, 15));
  second->write(records(15, 1));
  EXPECT_EQ(published(), records(0, 16));
  EXPECT_FALSE(first->takeover->is_leading());
  EXPECT_EQ(first->fenced.count(), 0U) << "it has given the lead back";
}

TEST_F(StandbyTakeoverTest, TheOldOneIsFenced) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  broker->freeze();
  ASSERT_TRUE(first->fenced.next());
  EXPECT_FALSE(first->takeover->is_leading());
  broker->thaw();
  auto second = start(true);
  ASSERT_TRUE(second->has_led());
  EXPECT_EQ(written(second->journal), records(0, 3));
}

TEST_F(StandbyTakeoverTest, ABrokerThatHasLostEverythingCostsNothing) {
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

TEST_F(StandbyTakeoverTest, AStandByBeginsNoLeague) {
  auto standby = start(true);
  EXPECT_FALSE(standby->has_led(lease * 3 / 2));
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 1));
  EXPECT_FALSE(standby->has_led(lease * 3 / 2));
  first->takeover->finish();
  EXPECT_TRUE(standby->has_led());
}

TEST_F(StandbyTakeoverTest, OneIsEnough) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  auto second = start(false);
  EXPECT_FALSE(second->has_led(lease * 3 / 2)) << "it follows";
  first->takeover->finish();
  EXPECT_TRUE(second->has_led());
}

TEST_F(StandbyTakeoverTest, ALeagueThatWasNotReplicatedIsPublished) {
  auto first = std::make_unique<TestManager>(broker->url(), lease, false);
  ASSERT_TRUE(journal::append_and_wait(first->journal, records(0, 20)));
  first->begin();
  ASSERT_TRUE(first->has_led());
  first->write(records(20, 1));
  EXPECT_EQ(published(), records(0, 21));
}

TEST_F(StandbyTakeoverTest, ANewLeagueTakesTheOldOnesPlace) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  first->takeover->finish();
  auto second = start(false, true);
  ASSERT_TRUE(second->has_led());
  EXPECT_EQ(second->journal.size(), 0U);
  second->write(records(50, 2));
  EXPECT_EQ(published(), records(50, 2));
}

TEST_F(StandbyTakeoverTest, AJournalWhoseLastMessageIsGoneIsGoneOnWith) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 2));
  first->write(records(2, 1));
  first->takeover->finish();
  remove(static_cast<int>(agent->state("LEAGUE_JOURNAL_l")->last_sequence));
  auto second = start(false);
  ASSERT_TRUE(second->has_led());
  EXPECT_EQ(written(second->journal), records(0, 2));
  second->write(records(10, 1));
}

/// With a journal that cannot be read after somebody has got the lead.
class UnreadableJournalTest : public StandbyTakeoverTest {
 protected:
  void SetUp() override {
    StandbyTakeoverTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", hearing_));
    manager_ = std::make_unique<TestManager>(broker->url(), lease, false);
    ASSERT_TRUE(journal::append_and_wait(manager_->journal, records(0, 1)));
    manager_->bus.is_silent = true;
    manager_->begin();
  }
  void TearDown() override {
    manager_ = nullptr;
    spdlog::set_default_logger(before_);
  }
  const std::shared_ptr<CapturedLog> hearing_ = std::make_shared<CapturedLog>();
  const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
  std::unique_ptr<TestManager> manager_;
};

TEST_F(UnreadableJournalTest, IsSaidAndReadLater) {
  ASSERT_TRUE(hearing_->has("the journal cannot be read: $JS.API.STREAM.INFO"));
  manager_->bus.is_silent = false;
  EXPECT_TRUE(manager_->has_led());
}

TEST_F(UnreadableJournalTest, KeepsNobodyFromStopping) {
  ASSERT_TRUE(hearing_->has("the journal cannot be read: $JS.API.STREAM.INFO"));
  manager_->stop.request_stop();
  EXPECT_FALSE(manager_->has_led());
  manager_ = nullptr;
  EXPECT_TRUE(start(false)->has_led()) << "the lead was given back";
}

TEST_F(StandbyTakeoverTest, ADirectoryThatWentAnotherWayIsRefused) {
  auto first = start(false);
  ASSERT_TRUE(first->has_led());
  first->write(records(0, 3));
  auto other = std::make_unique<TestManager>(broker->url(), lease, false);
  ASSERT_TRUE(journal::append_and_wait(other->journal, records(40, 2)));
  other->begin();
  EXPECT_NE(other->refusal().message.find("--new"), std::string::npos);
}

}  // namespace
}  // namespace league::league_manager::standby
