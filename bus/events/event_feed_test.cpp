// Readers of a stream that is lost, silent or not there, at a broker inside the process.
#include "bus/events/event_feed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bus/transport/bus.h"
#include "bus/transport/memory_bus_testing.h"
#include "common/transport/link/sse_parser.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory/memory_connection.h"
#include "tests/support/scripted_random.h"

namespace league::league_manager::bus {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;
using Told = std::vector<std::string>;

/// As much of JetStream as the feed asks for.
class ScriptedStream {
 public:
  explicit ScriptedStream(transport::bus::Bus& bus) : bus_(bus) {
    asked_ = *bus.subscribe("$JS.API.>", "", [this](const transport::bus::BusMessage& request) {
      bool is_state = request.subject.starts_with("$JS.API.STREAM.INFO.");
      if (is_silent || (is_state && is_state_silent)) return;
      auto answer = is_state ? state() : next(request.payload);
      answer.subject = request.reply;
      (void)bus_.publish(answer);
    });
  }
  std::vector<std::string> ids;
  bool is_there = true;
  bool is_silent = false;
  bool is_state_silent = false;

 private:
  [[nodiscard]] transport::bus::BusMessage state() const {
    json answer = {{"error", {{"code", 404}, {"err_code", 10059}, {"description", "not found"}}}};
    if (is_there)
      answer = {{"config", {{"allow_direct", true}}},
                {"state", {{"messages", ids.size()}, {"first_seq", 1U}, {"last_seq", ids.size()}}}};
    return {{}, {}, {}, answer.dump(), false};
  }
  [[nodiscard]] transport::bus::BusMessage next(const std::string& request) const {
    auto sequence = json::parse(request)["seq"].get<std::size_t>();
    if (sequence > ids.size()) return {{}, {}, {{"Status", "404"}}, {}, false};
    const auto& id = ids[sequence - 1];
    return {{},
            {},
            {{"Nats-Subject", "mcp.events.a.round_completed"},
             {"Nats-Sequence", std::to_string(sequence)},
             {"Nats-Msg-Id", id}},
            id,
            false};
  }

  transport::bus::Bus& bus_;
  std::unique_ptr<transport::bus::Bus::Subscription> asked_;
};

class EventFeedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    streams_ = *transport::bus::JetStream::create(
        {*bus_, *transport::link::BusSession::parse("manager-session"), time_, time_, random_});
    feed_ = std::make_unique<EventFeed>(*bus_, streams_.get(), "a", time_);
    out_ = *broker_bus_->subscribe(
        transport::link::session_out(reader_), "",
        [this](const transport::bus::BusMessage& message) {
          transport::link::SseParser parser;
          parser.feed(message.payload, [this](const transport::link::SseEvent& event) {
            told_.push_back(event.id.value_or("-") + " " +
                            (event.type == "reset" ? event.type : event.data));
          });
        });
  }
  void TearDown() override { feed_->stop(); }

  static PublishedEvent event(const std::string& id) {
    return {.type = "round_completed",
            .message_type = "ROUND_COMPLETED",
            .conversation_id = "c",
            .id = id,
            .text = std::make_shared<const std::string>(id)};
  }
  void subscribe(std::optional<std::uint64_t> after) {
    feed_->subscribe(reader_, {.types = {}, .after = after});
    steps_.run_until_idle();
  }
  /// The stream has it as its next one, or has had it before and says so.
  void keep(const std::string& id, bool is_repetition = false) {
    auto place = std::find(stream_.ids.begin(), stream_.ids.end(), id);
    auto sequence = static_cast<std::uint64_t>(place - stream_.ids.begin()) + 1;
    if (place == stream_.ids.end()) stream_.ids.push_back(id);
    feed_->on_published(event(id), {sequence, is_repetition});
    steps_.run_until_idle();
  }
  /// Longer than the feed waits for an answer.
  void wait() {
    for (int i = 0; i < 12; ++i) {
      time_.advance(500ms);
      steps_.run_until_idle();
    }
  }
  Told told() { return std::exchange(told_, {}); }

  league::testing::FakeTime time_;
  league::testing::ScriptedRandom random_;
  transport::memory::MemorySteps steps_;
  transport::memory::MemoryBroker broker_{[this](auto step) { steps_.post(std::move(step)); }};
  std::unique_ptr<transport::bus::Bus> bus_ = broker_.connect("manager");
  std::unique_ptr<transport::bus::Bus> broker_bus_ = broker_.connect("broker");
  const transport::link::BusSession reader_ = *transport::link::BusSession::parse("reader-session");
  ScriptedStream stream_{*broker_bus_};
  std::unique_ptr<transport::bus::JetStream> streams_;
  std::unique_ptr<EventFeed> feed_;
  std::unique_ptr<transport::bus::Bus::Subscription> out_;
  Told told_;
};

TEST_F(EventFeedTest, ALostStreamOfOneEventIsNoticed) {
  subscribe(std::nullopt);
  keep("a1");
  stream_.ids.clear();
  keep("b1");
  keep("b2");
  EXPECT_EQ(told(), (Told{"1 a1", "0 reset", "1 b1", "2 b2"}));
}

TEST_F(EventFeedTest, ALostStreamOfOneEventThatWasReadFromItIsNoticed) {
  stream_.ids = {"a1"};
  subscribe(0);
  stream_.ids.clear();
  keep("b1");
  EXPECT_EQ(told(), (Told{"1 a1", "0 reset", "1 b1"}));
}

TEST_F(EventFeedTest, ALostStreamOfWhichAClientComesBackWithTheOnlyNumberIsNoticed) {
  stream_.ids = {"a1"};
  subscribe(1);
  stream_.ids.clear();
  keep("b1");
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1"}));
}

TEST_F(EventFeedTest, AnEventThatWasReadBeforeItIsToldOfIsNoNewStream) {
  stream_.ids = {"a1"};
  subscribe(0);
  keep("a1");
  keep("a2");
  EXPECT_EQ(told(), (Told{"1 a1", "2 a2"}));
}

TEST_F(EventFeedTest, AReaderBegunAnewIsToldFromTheFirstEvent) {
  subscribe(std::nullopt);
  for (const char* id : {"a1", "a2", "a3", "a4"}) keep(id);
  (void)told();
  stream_.ids = {"b1", "b2"};
  keep("b3");
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1", "2 b2", "3 b3"}));
}

TEST_F(EventFeedTest, AStreamThatDoesNotSayItsStateIsAskedUntilItDoes) {
  stream_.ids = {"b1", "b2", "b3", "b4", "b5"};
  stream_.is_state_silent = true;
  subscribe(17);
  wait();
  EXPECT_EQ(told(), Told{});
  keep("b6");
  stream_.is_state_silent = false;
  wait();
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1", "2 b2", "3 b3", "4 b4", "5 b5", "6 b6"}));
}

TEST_F(EventFeedTest, AFirstEventThatCountsAsARepetitionIsNotMissed) {
  subscribe(std::nullopt);
  for (const char* id : {"a1", "a2", "a3"}) keep(id);
  (void)told();
  stream_.ids.clear();
  keep("b1", true);  // its first answer was lost
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1"}));
  keep("b2");
  EXPECT_EQ(told(), (Told{"2 b2"}));
}

TEST_F(EventFeedTest, AFirstEventThatCountsAsARepetitionIsNotTakenForTheOnlyOneBefore) {
  subscribe(std::nullopt);
  keep("a1");
  stream_.ids.clear();
  keep("b1", true);
  EXPECT_EQ(told(), (Told{"1 a1", "0 reset", "1 b1"}));
}

TEST_F(EventFeedTest, ARepetitionIsNoNewStream) {
  subscribe(std::nullopt);
  for (const char* id : {"a1", "a2", "a3"}) keep(id);
  (void)told();
  keep("a1", true);
  keep("a3", true);
  EXPECT_EQ(told(), Told{});
  keep("a4");
  EXPECT_EQ(told(), (Told{"4 a4"}));
}

TEST_F(EventFeedTest, AStreamThatIsLostWhileItIsReadIsBegunAnew) {
  stream_.ids = {"a1", "a2", "a3"};
  subscribe(3);
  stream_.is_silent = true;
  feed_->subscribe(reader_, {.types = {}, .after = 1});
  stream_.ids.clear();
  keep("b1");
  stream_.is_silent = false;
  wait();
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1"}));
}

TEST_F(EventFeedTest, WhereThereIsNoStreamTheNextOneIsReadFromItsFirst) {
  stream_.is_there = false;
  subscribe(2);
  stream_.is_there = true;
  stream_.ids = {"b1", "b2"};
  keep("b3");
  EXPECT_EQ(told(), (Told{"0 reset", "1 b1", "2 b2", "3 b3"}));
}

TEST_F(EventFeedTest, AReaderThatIsBehindHearsWhatNobodyKeeps) {
  stream_.ids = {"a1"};
  stream_.is_silent = true;
  subscribe(0);
  feed_->on_published(event("x"), {});
  steps_.run_until_idle();
  EXPECT_EQ(told(), (Told{"- x"}));
  stream_.is_silent = false;
  wait();
  EXPECT_EQ(told(), (Told{"1 a1"}));
}

}  // namespace
}  // namespace league::league_manager::bus
