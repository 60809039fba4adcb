// Events at a broker of the test's own: kept, told again, and handed on where nobody keeps them.
#include "bus/events/bus_event_board.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "bus/events/event_feed.h"
#include "bus/transport/broker_testing.h"
#include "bus/transport/bus.h"
#include "bus/transport/jet_stream_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::league_manager::bus {
namespace {

using league::testing::JetAgent;
using league::testing::JetAnswers;
using league::testing::TestingBroker;
using transport::bus::BusMessage;
using transport::link::BusSession;
using namespace std::chrono_literals;

/// Counts what is logged.
class CountingLog final : public audit::record::RecordSink {
 public:
  void append(audit::record::Record record) override { records.add(std::move(record)); }
  JetAnswers<audit::record::Record> records;
};

PublishedEvent event(int round, const std::string& type = "round_completed") {
  return {.type = type,
          .message_type = "ROUND_COMPLETED",
          .conversation_id = "conv" + std::to_string(round),
          .id = "key." + type + std::to_string(round),
          .text = std::make_shared<const std::string>("{\"round\":" + std::to_string(round) + "}")};
}

class BusEventBoardTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }
  void start(bool has_streams = true) {
    std::vector<std::string> more;
    if (has_streams) more = {"-js", "-sd", directory_.path().string()};
    broker_ = std::make_unique<TestingBroker>(more);
    manager_ = std::make_unique<JetAgent>(broker_->url());
    listener_ = std::make_unique<JetAgent>(broker_->url());
    heard_ = listen(transport::link::event_subjects("a"));
    feed_ = std::make_unique<EventFeed>(*manager_->bus, manager_->streams.get(), "a", clock_);
    board_ = make_board();
  }
  void TearDown() override {
    if (board_) board_->stop();
    if (feed_) feed_->stop();
  }
  std::unique_ptr<BusEventBoard> make_board() {
    return std::make_unique<BusEventBoard>(BusEventBoardDependencies{
        .bus = *manager_->bus,
        .streams = manager_->streams.get(),
        .session = session_,
        .league_id = "a",
        .clock = clock_,
        .log = log_,
        .on_published = [this](const PublishedEvent& one, EventKept kept) {
          feed_->on_published(one, kept);
          sequences_.add(kept.sequence);
        }});
  }
  std::unique_ptr<transport::bus::Bus::Subscription> listen(const std::string& subject) {
    auto subscription = *listener_->bus->subscribe(
        subject, "", [this](const BusMessage& message) { messages_.add(message); });
    // What comes back has passed the subscription on its way.
    JetAnswers<int> echo;
    auto echoed = *listener_->bus->subscribe("echo", "", [&](const auto& /*one*/) { echo.add(1); });
    EXPECT_TRUE(listener_->bus->publish({"echo", {}, {}, {}, false}));
    EXPECT_TRUE(echo.next());
    return subscription;
  }
  void publish(int round, const std::string& type = "round_completed") {
    board_->publish(event(round, type), [this] { done_.add(1); });
    ASSERT_TRUE(done_.next());
  }
  /// The broker has another one in its place.
  void lose_stream() {
    JetAnswers<std::string> answers;
    auto heard = *manager_->bus->subscribe(
        "_INBOX.api", "", [&](const BusMessage& answer) { answers.add(answer.payload); });
    ASSERT_TRUE(
        manager_->bus->publish({"$JS.API.STREAM.DELETE." + transport::link::event_stream("a"),
                                "_INBOX.api",
                                {},
                                {},
                                false}));
    EXPECT_NE(answers.next().value_or("").find("\"success\":true"), std::string::npos);
    transport::bus::StreamConfig config;
    config.name = transport::link::event_stream("a");
    config.subjects = {transport::link::event_subjects("a")};
    ASSERT_TRUE(manager_->ensure(config));
  }
  std::string next_payload() {
    auto message = messages_.next();
    return message ? message->payload : "nothing came";
  }

  core::SystemClock clock_;
  const BusSession session_ = *BusSession::parse("manager-session");
  const BusSession reader_ = *BusSession::parse("reader-session");
  league::testing::TemporaryDirectory directory_;
  CountingLog log_;
  JetAnswers<BusMessage> messages_;
  JetAnswers<std::uint64_t> sequences_;
  JetAnswers<int> done_;
  std::unique_ptr<TestingBroker> broker_;
  std::unique_ptr<JetAgent> manager_;
  std::unique_ptr<JetAgent> listener_;
  std::unique_ptr<transport::bus::Bus::Subscription> heard_;
  std::unique_ptr<EventFeed> feed_;
  std::unique_ptr<BusEventBoard> board_;
};

TEST_F(BusEventBoardTest, WhatIsPublishedIsHeardAndKeptAndLoggedOnce) {
  start();
  publish(1);
  publish(2);
  EXPECT_EQ(sequences_.next(), 1U);
  EXPECT_EQ(sequences_.next(), 2U);
  auto first = messages_.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->subject, "mcp.events.a.round_completed");
  EXPECT_EQ(first->payload, "{\"round\":1}");
  EXPECT_EQ(transport::bus::bus_header(*first, rpc::kSessionHeader), session_.str());
  EXPECT_EQ(next_payload(), "{\"round\":2}");
  auto record = log_.records.next();
  ASSERT_TRUE(record);
  EXPECT_EQ(record->notes.peer, "everybody");
  EXPECT_EQ(record->body, "{\"round\":1}");
  EXPECT_EQ(log_.records.count(), 1U) << "one more, of the second";
  auto state = manager_->state(transport::link::event_stream("a"));
  ASSERT_TRUE(state);
  EXPECT_EQ(state->messages, 2U);
}

TEST_F(BusEventBoardTest, AFullStoreKeepsNothingAndHoldsNobodyUp) {
  start();
  publish(1);
  // In place of the stream stands one that takes nothing.
  transport::bus::StreamConfig full;
  full.name = transport::link::event_stream("a");
  full.subjects = {transport::link::event_subjects("a")};
  full.max_bytes = 1;
  full.refuses_when_full = true;
  ASSERT_TRUE(manager_->ensure(full));
  for (int round = 2; round <= 20; ++round) publish(round);
  EXPECT_EQ(sequences_.next(), 1U);
  for (int round = 2; round <= 20; ++round) EXPECT_EQ(sequences_.next(), 0U);
  for (int round = 1; round <= 20; ++round)
    EXPECT_EQ(next_payload(), "{\"round\":" + std::to_string(round) + "}") << "heard once";
  EXPECT_EQ(messages_.count(), 0U);
  full.max_bytes = -1;
  ASSERT_TRUE(manager_->ensure(full));
  publish(21);
  EXPECT_EQ(sequences_.next(), 2U) << "there is room again";
}

TEST_F(BusEventBoardTest, AManagerThatIsStartedAgainDoublesNothing) {
  start();
  publish(1);
  board_ = nullptr;
  board_ = make_board();
  publish(1);
  publish(2);
  EXPECT_EQ(sequences_.next(), 1U);
  EXPECT_EQ(sequences_.next(), 1U);
  EXPECT_EQ(sequences_.next(), 2U);
  EXPECT_EQ(manager_->state(transport::link::event_stream("a"))->messages, 2U);
}

TEST_F(BusEventBoardTest, WithoutStreamsEventsAreHandedOn) {
  start(false);
  publish(1);
  EXPECT_EQ(sequences_.next(), 0U);
  EXPECT_EQ(next_payload(), "{\"round\":1}");
  EXPECT_FALSE(feed_->is_kept());
}

TEST_F(BusEventBoardTest, WhileTheBrokerIsAwayEventsWaitInTheirOrder) {
  start();
  publish(1);
  broker_->kill();
  JetAnswers<int> done;
  for (int round : {2, 3}) board_->publish(event(round), [&done, round] { done.add(round); });
  broker_->start();
  EXPECT_EQ(done.next(), 2);
  EXPECT_EQ(done.next(), 3);
  EXPECT_EQ(manager_->state(transport::link::event_stream("a"))->last_sequence, 3U);
  board_->stop();
}

TEST_F(BusEventBoardTest, WhoStopsHearsNothingMore) {
  start();
  broker_->freeze();
  board_->publish(event(1), [this] { done_.add(1); });
  board_->stop();
  broker_->thaw();
  board_ = nullptr;
  EXPECT_EQ(done_.count(), 0U);
}

TEST_F(BusEventBoardTest, AReaderIsToldWhatWasAndThenWhatHappens) {
  start();
  publish(1);
  publish(2, "round_announcement");
  publish(3);
  auto out = listen(transport::link::session_out(reader_));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(messages_.next());
  feed_->subscribe(reader_, {.types = {"round_completed"}, .after = 1});
  auto third = messages_.next();
  ASSERT_TRUE(third);
  EXPECT_EQ(third->subject, transport::link::session_out(reader_));
  EXPECT_EQ(transport::bus::bus_header(*third, "Content-Type"), "text/event-stream");
  EXPECT_EQ(third->payload, "id: 3\nevent: message\ndata: {\"round\":3}\n\n");
  heard_.reset();
  publish(4);
  publish(5, "round_announcement");
  publish(6);
  EXPECT_EQ(next_payload(), "id: 4\nevent: message\ndata: {\"round\":4}\n\n");
  EXPECT_EQ(next_payload(), "id: 6\nevent: message\ndata: {\"round\":6}\n\n");
}

TEST_F(BusEventBoardTest, WhatIsPublishedAgainIsNoNewStreamToItsReaders) {
  start();
  heard_.reset();
  auto out = listen(transport::link::session_out(reader_));
  feed_->subscribe(reader_, {});
  for (int round = 1; round <= 4; ++round) publish(round);
  for (int round = 1; round <= 4; ++round) EXPECT_TRUE(messages_.next());
  // The reader has everything. The stream has this as its first, and says so.
  publish(1);
  publish(5);
  EXPECT_EQ(next_payload(), "id: 5\nevent: message\ndata: {\"round\":5}\n\n");
}

TEST_F(BusEventBoardTest, AReaderIsToldThatTheBrokerHasLostItsOnlyEvent) {
  start();
  heard_.reset();
  auto out = listen(transport::link::session_out(reader_));
  feed_->subscribe(reader_, {});
  publish(1);
  EXPECT_EQ(next_payload(), "id: 1\nevent: message\ndata: {\"round\":1}\n\n");
  lose_stream();
  publish(2);
  EXPECT_EQ(next_payload(), "id: 0\nevent: reset\ndata: {}\n\n");
  EXPECT_EQ(next_payload(), "id: 1\nevent: message\ndata: {\"round\":2}\n\n");
}

TEST_F(BusEventBoardTest, AReaderThatComesInTheMiddleMissesNothing) {
  start();
  heard_.reset();
  auto out = listen(transport::link::session_out(reader_));
  constexpr int kEvents = 60;
  for (int round = 1; round <= kEvents; ++round) {
    board_->publish(event(round), [this] { done_.add(1); });
    if (round == kEvents / 2) feed_->subscribe(reader_, {.types = {}, .after = 0});
  }
  for (int round = 1; round <= kEvents; ++round) {
    ASSERT_EQ(next_payload(), "id: " + std::to_string(round) +
                                  "\nevent: message\ndata: {\"round\":" + std::to_string(round) +
                                  "}\n\n");
  }
}

TEST_F(BusEventBoardTest, AFilterReplacesTheOneBefore) {
  start();
  heard_.reset();
  auto out = listen(transport::link::session_out(reader_));
  feed_->subscribe(reader_, {});
  feed_->subscribe(reader_, {.types = {"round_completed"}, .after = std::nullopt});
  publish(1, "round_announcement");
  publish(2);
  EXPECT_EQ(next_payload(), "id: 2\nevent: message\ndata: {\"round\":2}\n\n");
}

TEST(EventFilters, AreRead) {
  using nlohmann::json;
  auto filter = read_event_filter(json::parse(R"({"types": ["ROUND_COMPLETED"], "after": 7})"));
  ASSERT_TRUE(filter);
  EXPECT_EQ(filter->types, (std::set<std::string>{"round_completed"}));
  EXPECT_EQ(filter->after, 7U);
  EXPECT_FALSE(read_event_filter(json::object())->after);
  for (const auto& bad :
       {json{{"after", "7"}}, json{{"after", -1}}, json{{"types", "x"}},
        json{{"types", json::array({1})}}, json{{"types", std::vector<std::string>(17, "x")}}})
    EXPECT_FALSE(read_event_filter(bad)) << bad;
}

}  // namespace
}  // namespace league::league_manager::bus
