#include "league_manager/rounds/broadcaster.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/envelope/envelope_testing.h"
#include "tests/support/fake_clock.h"

namespace league::league_manager::rounds {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// Holds every call until the test ends it.
class HoldingCaller final : public transport::link::Caller {
 public:
  void call(transport::link::OutboundCall call, Completion completion) override {
    sent.push_back(call.notes->peer + " " + json::parse(call.bytes)["params"].dump());
    batches.push_back(call.batch);
    held.push_back(std::move(completion));
  }
  /// Ends the oldest call.
  void end(bool well = true) {
    auto completion = std::move(held.at(0));
    held.erase(held.begin());
    transport::link::CallOutcome outcome;
    outcome.http_status = 204;
    if (!well) outcome.error = core::Error{core::ErrorCode::kTimeout, "", ""};
    completion(std::move(outcome));
  }

  std::vector<std::string> sent;
  std::vector<std::shared_ptr<transport::caller::CallBatch>> batches;
  std::vector<Completion> held;
};

class BroadcasterTest : public ::testing::Test {
 protected:
  void send(const std::string& peer, MessageType type, const std::string& text,
            bool takes_batches = false, std::string_view url = "http://127.0.0.1:8101/mcp") {
    agent::peers::PeerCall call;
    call.endpoint = *transport::link::parse_endpoint(url);
    call.peer = peer;
    call.type = type;
    call.message = std::make_shared<const std::string>("{\"n\":\"" + text + "\"}");
    call.conversation_id = "conv1";
    auto delivery = std::make_shared<Delivery>(Delivery{task::Latch(1)});
    waits_.spawn(note_done(text, delivery));
    executor_.post([&] { broadcaster_.send({std::move(call), {}, delivery, takes_batches}); });
  }
  task::Task<void> note_done(std::string text, std::shared_ptr<Delivery> delivery) {
    co_await delivery->open.wait();
    done_.push_back(text);
  }

  static agent::runtime::Settings settings() {
    agent::runtime::Settings settings;
    settings.calls.broadcast = 2;
    settings.breaker.failures = 2;
    return settings;
  }

  league::testing::FakeTime time_;
  HoldingCaller caller_;
  agent::peers::PeerClient peers_{caller_, envelope::testing::schemas(), time_,
                                  envelope::Mode::kOpen};
  const agent::runtime::Settings settings_ = settings();
  std::vector<std::string> done_;
  const task::Executor executor_;
  task::Scope waits_{executor_, nullptr};
  Broadcaster broadcaster_{peers_, time_, settings_, executor_};
};

constexpr auto kTable = MessageType::kLeagueStandingsUpdate;
constexpr auto kRound = MessageType::kRoundCompleted;

TEST_F(BroadcasterTest, OnePeerGetsOneAfterTheOtherInOrder) {
  send("player:P01", kTable, "1");
  send("player:P01", kRound, "2");
  EXPECT_EQ(caller_.sent.size(), 1U);
  caller_.end();
  EXPECT_EQ(caller_.sent,
            (std::vector<std::string>{R"(player:P01 {"n":"1"})", R"(player:P01 {"n":"2"})"}));
  EXPECT_EQ(done_, (std::vector<std::string>{"1"}));
}

TEST_F(BroadcasterTest, WhatWaitsForAPeerThatTakesBatchesIsSentTogether) {
  send("player:P01", kTable, "1", true);
  send("player:P01", kRound, "2", true);
  send("player:P01", kRound, "3", true);
  EXPECT_EQ(caller_.sent.size(), 1U) << "nothing waits for what may come";
  caller_.end();
  ASSERT_EQ(caller_.sent.size(), 3U);
  EXPECT_EQ(caller_.batches.at(0), nullptr);
  EXPECT_NE(caller_.batches.at(1), nullptr);
  EXPECT_EQ(caller_.batches.at(1), caller_.batches.at(2));
  EXPECT_EQ(done_, (std::vector<std::string>{"1"}));
  caller_.end();
  caller_.end(false);
  EXPECT_EQ(done_, (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(BroadcasterTest, ThereAreNoBatchesOverOtherTransports) {
  constexpr std::string_view kSocket = "ws://127.0.0.1:8101/mcp";
  for (const char* text : {"1", "2", "3"}) send("player:P01", kRound, text, true, kSocket);
  caller_.end();
  EXPECT_EQ(caller_.sent.size(), 2U) << "one after the other";
  EXPECT_EQ(caller_.batches.at(1), nullptr);
  caller_.end();
  caller_.end();
  EXPECT_EQ(caller_.sent.size(), 3U);
  EXPECT_EQ(done_, (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(BroadcasterTest, ANewerTableReplacesOneThatWaits) {
  send("player:P01", kRound, "first");
  send("player:P01", kTable, "old");
  send("player:P01", kTable, "new");
  EXPECT_EQ(done_, (std::vector<std::string>{"old"}));  // nobody waits for it in vain
  caller_.end();
  caller_.end();
  EXPECT_EQ(caller_.sent.back(), R"(player:P01 {"n":"new"})");
  EXPECT_EQ(caller_.sent.size(), 2U);
}

TEST_F(BroadcasterTest, NoMoreAreInFlightThanTheLimit) {
  for (const char* peer : {"player:P01", "player:P02", "player:P03"}) send(peer, kRound, peer);
  EXPECT_EQ(caller_.held.size(), 2U);
  caller_.end();
  EXPECT_EQ(caller_.sent.size(), 3U);
  EXPECT_EQ(caller_.held.size(), 2U);
}

TEST_F(BroadcasterTest, APeerThatKeepsFailingIsSparedForAWhile) {
  for (int i = 0; i < 2; ++i) {
    send("player:P01", kRound, "x");
    caller_.end(false);
  }
  send("player:P01", kRound, "spared");
  EXPECT_EQ(caller_.sent.size(), 2U);
  EXPECT_EQ(done_.back(), "spared");
  send("player:P02", kRound, "other");
  EXPECT_EQ(caller_.sent.size(), 3U);
  time_.advance(settings_.breaker.open);
  send("player:P01", kRound, "trial");
  EXPECT_EQ(caller_.sent.size(), 4U);
}

TEST(HeadToldIn, TakesNothingButAHead) {
  const std::string hash(64, 'a');
  const auto told = [&](const json& head) { return head_told_in({{"log_head", head}}); };
  EXPECT_EQ(told({{"seq", 7U}, {"hash", hash}}), (audit::record::LogHead{.seq = 7, .hash = hash}));
  EXPECT_TRUE(told({{"seq", 0U}, {"hash", hash}}));
  for (const json& bad :
       {json(nullptr), json::object(), json{{"seq", -1}, {"hash", hash}},
        json{{"seq", 1.5}, {"hash", hash}}, json{{"seq", 1ULL << 60}, {"hash", hash}},
        json{{"seq", 1U}, {"hash", hash + "a"}}, json{{"seq", 1U}, {"hash", std::string(64, 'A')}},
        json{{"seq", 1U}, {"hash", 7}}})
    EXPECT_FALSE(told(bad)) << bad;
  EXPECT_FALSE(head_told_in(nullptr));
}

TEST_F(BroadcasterTest, NothingIsSentAfterStop) {
  send("player:P01", kRound, "1");
  send("player:P01", kRound, "2");
  broadcaster_.stop();
  caller_.end();
  send("player:P01", kRound, "3");
  EXPECT_EQ(caller_.sent.size(), 1U);
}

}  // namespace
}  // namespace league::league_manager::rounds
