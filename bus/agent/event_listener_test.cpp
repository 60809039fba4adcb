// What a league publishes once, from a bus inside the process through the verifier to a handler.
#include "bus/agent/event_listener.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "bus/transport/bus.h"
#include "bus/transport/memory_bus_testing.h"
#include "common/agent/bus/event_signature.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory/memory_connection.h"

namespace league::agent::bus {
namespace {

using envelope::MessageType;
using nlohmann::json;

/// Remembers what it got.
class NewsHandler final : public transport::link::MessageHandler {
 public:
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    auto params = json::parse(message.bytes)["params"];
    heard.push_back(params.value("message_type", "") + " " + params.value("auth_token", "none"));
    transport::link::OutboundReply answer;
    answer.after_sent = [this] { ++answered; };
    reply.send(std::move(answer));
  }
  std::vector<std::string> heard;
  int answered = 0;
};

/// Between listener and verifier, as the conversation log is.
class Noting final : public transport::link::MessageHandler {
 public:
  explicit Noting(transport::link::MessageHandler& inner) : inner_(inner) {}
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    auto notes = message.notes;
    contexts.push_back(message.context);
    inner_.on_message(std::move(message), std::move(reply));
    verdicts.push_back(notes->verdict);
  }
  std::vector<std::optional<core::ErrorCode>> verdicts;
  std::vector<rpc::MessageContext> contexts;

 private:
  transport::link::MessageHandler& inner_;
};

class EventListenerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(10)));
    auto started = EventListener::start({*bus_, session_, time_, time_, random_}, "league_a",
                                        verifier_, noting_);
    ASSERT_TRUE(started);
    listener_ = std::move(*started);
  }
  void TearDown() override {
    listener_.reset();
    steps_.run_until_idle();
    spdlog::set_default_logger(before_);
  }
  void trust() {
    verifier_.trust({.id = "P01",
                     .token = core::AuthToken("tok_p01_own"),
                     .league = core::LeagueId("league_a"),
                     .broadcast_key = key_.public_key()});
    listener_->release();
  }
  static core::SigningKey key_of(std::uint8_t first) {
    std::array<std::uint8_t, 32> seed{};
    seed[0] = first;
    return core::SigningKey::from_seed(seed);
  }
  static std::string event(const std::string& type, const core::SigningKey& key,
                           std::optional<int> term = std::nullopt) {
    json params = {{"message_type", type}, {"conversation_id", "c1"}, {"signature", ""}};
    if (term) params["term"] = *term;
    return sign_event(json{{"jsonrpc", "2.0"}, {"method", "news"}, {"params", params}}.dump(), key);
  }
  void publish(const std::string& type, const std::string& payload,
               const std::string& league = "league_a") {
    transport::bus::BusMessage message;
    message.subject = transport::link::event_subject(league, type);
    message.reply = "_INBOX.manager.acks";
    message.payload = payload;
    ASSERT_TRUE(manager_bus_->publish(message));
    steps_.run_until_idle();
  }

  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  transport::memory::MemorySteps steps_;
  transport::memory::MemoryBroker broker_{[this](auto step) { steps_.post(std::move(step)); }};
  std::unique_ptr<transport::bus::Bus> bus_ = broker_.connect("agent");
  std::unique_ptr<transport::bus::Bus> manager_bus_ = broker_.connect("manager");
  const transport::link::BusSession session_ = *transport::link::BusSession::parse("agent-session");
  const core::SigningKey key_ = key_of(1);
  NewsHandler handler_;
  EventVerifier verifier_{handler_, {MessageType::kRoundCompleted, MessageType::kLeagueCompleted}};
  Noting noting_{verifier_};
  std::unique_ptr<EventListener> listener_;
  std::shared_ptr<spdlog::logger> before_;
};

TEST_F(EventListenerTest, ASignedEventComesWithTheAgentsOwnToken) {
  trust();
  publish("round_completed", event("ROUND_COMPLETED", key_));
  EXPECT_EQ(handler_.heard, (std::vector<std::string>{"ROUND_COMPLETED tok_p01_own"}));
  EXPECT_EQ(handler_.answered, 1);
  ASSERT_EQ(noting_.contexts.size(), 1U);
  EXPECT_EQ(noting_.contexts[0].direction, rpc::MessageDirection::kServerToClient);
}

TEST_F(EventListenerTest, NobodyAnswersWhereTheManagerWaitsForItsBroker) {
  std::vector<transport::bus::BusMessage> answers;
  auto inbox = *manager_bus_->subscribe(
      "_INBOX.>", "",
      [&answers](const transport::bus::BusMessage& message) { answers.push_back(message); });
  trust();
  publish("round_completed", event("ROUND_COMPLETED", key_));
  publish("round_completed", "no JSON");
  EXPECT_TRUE(answers.empty());
}

TEST_F(EventListenerTest, WhatComesBeforeTheKeyIsKnownIsKept) {
  publish("round_completed", event("ROUND_COMPLETED", key_));
  publish("league_completed", event("LEAGUE_COMPLETED", key_));
  EXPECT_TRUE(handler_.heard.empty());
  trust();
  EXPECT_EQ(handler_.heard, (std::vector<std::string>{"ROUND_COMPLETED tok_p01_own",
                                                      "LEAGUE_COMPLETED tok_p01_own"}));
}

TEST_F(EventListenerTest, OtherTypesAndLeaguesAreNotHeard) {
  trust();
  publish("round_announcement", event("ROUND_ANNOUNCEMENT", key_));
  publish("unheard_of", event("UNHEARD_OF", key_));
  publish("round_completed", event("ROUND_COMPLETED", key_), "league_b");
  EXPECT_TRUE(noting_.verdicts.empty());
  // Nor under the name of one that is.
  publish("round_completed", event("ROUND_ANNOUNCEMENT", key_));
  EXPECT_TRUE(handler_.heard.empty());
  EXPECT_EQ(noting_.verdicts,
            (std::vector<std::optional<core::ErrorCode>>{core::ErrorCode::kUnexpectedMessage}));
}

TEST_F(EventListenerTest, AForgeryIsDroppedAndNoted) {
  trust();
  publish("round_completed", event("ROUND_COMPLETED", key_of(2)));
  publish("round_completed", json{{"params", {{"message_type", "ROUND_COMPLETED"}}}}.dump());
  publish("round_completed", "[]");
  auto changed = event("ROUND_COMPLETED", key_);
  changed.replace(changed.find("c1"), 2, "c2");
  publish("round_completed", changed);
  EXPECT_TRUE(handler_.heard.empty());
  ASSERT_EQ(noting_.verdicts.size(), 4U);
  EXPECT_EQ(noting_.verdicts[0], core::ErrorCode::kAuthTokenInvalid);
  EXPECT_EQ(noting_.verdicts[1], core::ErrorCode::kAuthTokenMissing);
  EXPECT_EQ(noting_.verdicts[3], core::ErrorCode::kAuthTokenInvalid);
}

TEST_F(EventListenerTest, AManagerWhosePlaceIsTakenIsNotHeardAnyMore) {
  trust();
  publish("round_completed", event("ROUND_COMPLETED", key_, 3));
  publish("round_completed", event("ROUND_COMPLETED", key_, 4));
  publish("round_completed", event("ROUND_COMPLETED", key_, 3));
  publish("round_completed", event("ROUND_COMPLETED", key_, 4));
  EXPECT_EQ(handler_.heard.size(), 3U);
  EXPECT_EQ(noting_.verdicts[2], core::ErrorCode::kNotAuthorized);
}

TEST_F(EventListenerTest, AfterItsEndNothingIsHeard) {
  publish("round_completed", event("ROUND_COMPLETED", key_));
  listener_.reset();
  publish("round_completed", event("ROUND_COMPLETED", key_));
  EXPECT_TRUE(noting_.verdicts.empty());
}

}  // namespace
}  // namespace league::agent::bus
