#include "bus/standby/replicated_journal.h"

#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/jet_stream_testing.h"
#include "common/transport/link/signals.h"
#include "common/transport/link/subject.h"
#include "league_manager/events/event_codec.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::stream {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::JetAnswers;

journal::EventRecord record(int number) {
  return events::to_record(
      {*core::UtcTimestamp::parse("2026-01-01T00:00:00Z"), events::RoundCompleted{number, {}}});
}

/// One manager, with a data directory and a connection of its own.
class Manager {
 public:
  Manager(const fs::path& data, const std::string& broker, bool begins_leagues) : agent_(broker) {
    fs::create_directories(data);
    journal::SqliteJournalOptions local;
    local.file = data / "journal.sqlite";
    local_ = std::move(*journal::SqliteJournal::open(std::move(local)));
    ReplicationOptions options;
    options.stream.league = "cup";
    options.paths = {data / "replication.json", data / "lose_after", data / "put_aside"};
    options.begins_leagues = begins_leagues;
    options.on_end = [this](const std::string& why) { ended_.add(why); };
    auto made = ReplicatedJournal::create(
        {{*agent_.bus, transport::link::BusSession::make(random_), clock_, agent_.timer, random_},
         *local_},
        std::move(options));
    EXPECT_TRUE(made);
    journal_ = std::move(*made);
    lead_ = std::async(std::launch::async, [this] { return journal_->lead(stop_); });
  }
  ~Manager() {
    stop_.request_stop();
    lead_.wait();
    journal_->finish();
  }
  [[nodiscard]] bool leads(std::chrono::seconds patience = 20s) {
    return lead_.wait_for(patience) == std::future_status::ready;
  }
  void append(int number) {
    journal_->journal().append({record(number)}, [this, number](const core::Result<void>& stored) {
      if (stored) durable_.add(number);
    });
  }
  [[nodiscard]] std::optional<int> next() { return durable_.next(); }
  [[nodiscard]] std::vector<journal::EventRecord> entries() const {
    std::vector<journal::EventRecord> all;
    EXPECT_TRUE(local_->replay([&](const journal::Entry& entry) -> core::Result<void> {
      all.push_back(entry.record);
      return {};
    }));
    return all;
  }
  [[nodiscard]] ReplicatedJournal& journal() { return *journal_; }
  [[nodiscard]] testing::JetAgent& agent() { return agent_; }

 private:
  testing::JetAgent agent_;
  core::SystemClock clock_;
  core::CryptoRandom random_;
  transport::link::StopSignal stop_;
  std::unique_ptr<journal::SqliteJournal> local_;
  std::unique_ptr<ReplicatedJournal> journal_;
  std::future<core::Result<bool>> lead_;
  JetAnswers<std::string> ended_;
  JetAnswers<int> durable_;
};

class ReplicatedJournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    broker_ = std::make_unique<testing::TestingBroker>(
        std::vector<std::string>{"-js", "-sd", (directory_.path() / "streams").string()});
  }
  [[nodiscard]] std::unique_ptr<Manager> manager(const std::string& name, bool begins = true) {
    return std::make_unique<Manager>(directory_.path() / name, broker_->url(), begins);
  }
  static void wait_until(const std::function<bool()>& is_so) {
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (!is_so() && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
    EXPECT_TRUE(is_so());
  }

  testing::TemporaryDirectory directory_;
  std::unique_ptr<testing::TestingBroker> broker_;
};

TEST_F(ReplicatedJournalTest, OneManagerAloneLeadsAndAnswersInOrder) {
  auto one = manager("one");
  ASSERT_TRUE(one->leads());
  EXPECT_EQ(one->journal().term(), 1);
  EXPECT_FALSE(one->journal().has_followed());
  for (int i = 0; i < 300; ++i) one->append(i);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(one->next(), i);
  EXPECT_EQ(one->entries().size(), 300U);
  EXPECT_EQ(one->journal().stream(), "LEAGUE_STREAM_1_cup");
}

TEST_F(ReplicatedJournalTest, AStandbyHasEverythingThatIsAnswered) {
  auto one = manager("one");
  ASSERT_TRUE(one->leads());
  auto two = manager("two", false);
  wait_until([&] {
    const auto status = one->journal().status();
    return status.standbys.size() == 1 && status.standbys[0].is_in_sync;
  });
  for (int i = 0; i < 100; ++i) one->append(i);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(one->next(), i);
  EXPECT_EQ(two->entries().size(), 100U);
  EXPECT_FALSE(two->leads(0s));
  one.reset();
  ASSERT_TRUE(two->leads());
  EXPECT_EQ(two->journal().term(), 2);
  EXPECT_TRUE(two->journal().has_followed());
}

TEST_F(ReplicatedJournalTest, AnEmptiedStreamIsOpenedAnew) {
  auto one = manager("one");
  ASSERT_TRUE(one->leads());
  one->append(1);
  EXPECT_EQ(one->next(), 1);
  broker_->kill();
  fs::remove_all(directory_.path() / "streams");
  broker_->start();
  one->append(2);
  EXPECT_EQ(one->next(), 2);
  wait_until([&] { return one->journal().stream() == "LEAGUE_STREAM_2_cup"; });
  const auto state = one->agent().state("LEAGUE_STREAM_2_cup");
  ASSERT_TRUE(state);
  EXPECT_GE(state->messages, 4U);  // open, entries, claim, affirm
}

TEST_F(ReplicatedJournalTest, ARestartedLeaderGoesOn) {
  auto one = manager("one");
  ASSERT_TRUE(one->leads());
  one->append(1);
  EXPECT_EQ(one->next(), 1);
  one.reset();
  one = manager("one");
  ASSERT_TRUE(one->leads());
  EXPECT_EQ(one->journal().term(), 2);
  one->append(2);
  EXPECT_EQ(one->next(), 2);
  EXPECT_EQ(one->entries().size(), 2U);
}

}  // namespace
}  // namespace league::league_manager::stream
