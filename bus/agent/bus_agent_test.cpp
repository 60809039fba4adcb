// An agent's session on a bus inside the process; the test plays the manager.
#include "bus/agent/bus_agent.h"

#include <gtest/gtest.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>

#include "bus/transport/bus.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/memory_bus_testing.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory/memory_connection.h"

namespace league::agent::bus {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// Echoes the method of each request, or keeps the slots.
class AgentHandler final : public transport::link::MessageHandler {
 public:
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    auto request = json::parse(message.bytes);
    methods.push_back(request.value("method", ""));
    if (is_silent) {
      kept.push_back(std::move(reply));
      return;
    }
    transport::link::OutboundReply answer;
    answer.bytes =
        json{{"jsonrpc", "2.0"}, {"id", request.value("id", json())}, {"result", 1}}.dump();
    reply.send(std::move(answer));
  }
  void on_channel_closed(const transport::link::PeerChannel& /*channel*/) override { ++closed; }

  std::vector<std::string> methods;
  std::vector<transport::link::ReplySlot> kept;
  bool is_silent = false;
  int closed = 0;
};

class BusAgentTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto sink = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(200);
    log_ = sink.get();
    before_ = spdlog::default_logger();
    spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
    in_ = listen(transport::link::session_in(session_), heard_);
  }
  void TearDown() override {
    agent_.reset();
    time_.clear();
    steps_.run_until_idle();
    spdlog::set_default_logger(before_);
  }
  std::unique_ptr<transport::bus::Bus::Subscription> listen(
      const std::string& subject, std::vector<transport::bus::BusMessage>& heard) {
    return *manager_bus_->subscribe(
        subject, "", [&heard](transport::bus::BusMessage message) { heard.push_back(message); });
  }
  /// Answers discovery with this interval, which is a JSON text.
  void serve_discovery(const std::string& keep_alive_ms, const std::string& league = "league_a") {
    discovery_ = *manager_bus_->subscribe(
        std::string(transport::link::kSessionDiscoveries), "",
        [this, keep_alive_ms, league](const transport::bus::BusMessage& message) {
          asked_.push_back(message);
          transport::bus::BusMessage answer;
          answer.subject = message.reply;
          answer.payload = R"({"jsonrpc":"2.0","id":1,"result":{"league_id":")" + league +
                           R"(","keep_alive_ms":)" + keep_alive_ms + "}}";
          (void)manager_bus_->publish(answer);
        });
  }
  void start_agent(const std::string& url = "nats:manager/league_a") {
    auto started = BusAgent::start({*agent_bus_, session_, time_, time_, random_}, url, handler_);
    ASSERT_TRUE(started) << started.error().message;
    agent_ = std::move(*started);
    steps_.run_until_idle();
  }
  void pass(std::chrono::milliseconds time, std::chrono::milliseconds step = 50ms) {
    for (auto passed = 0ms; passed < time; passed += step) {
      time_.advance(step);
      steps_.run_until_idle();
    }
  }
  /// As a manager that says each `interval` that it lives.
  void pass_with_beats(std::chrono::milliseconds time, std::chrono::milliseconds interval) {
    for (auto passed = 0ms; passed < time; passed += interval) {
      pass(interval);
      send_beat();
    }
  }
  void send_beat() {
    auto beat = transport::bus::bus_message(transport::link::session_out(session_),
                                            std::string(transport::bus::kBusKeepAlive), session_,
                                            rpc::MessageDirection::kServerToClient);
    beat.headers.emplace_back(transport::bus::kContentTypeHeader, "text/event-stream");
    ASSERT_TRUE(manager_bus_->publish(beat));
    steps_.run_until_idle();
  }
  void call_agent(int id, const std::string& reply) {
    auto call = transport::bus::bus_message(
        transport::link::session_out(session_),
        json{{"jsonrpc", "2.0"}, {"id", id}, {"method", "CHOOSE"}}.dump(), session_,
        rpc::MessageDirection::kClientToServer);
    call.reply = reply;
    ASSERT_TRUE(manager_bus_->publish(call));
    steps_.run_until_idle();
  }
  int logged(const std::string& text) const {
    int count = 0;
    for (const auto& line : log_->last_formatted())
      count += line.find(text) != std::string::npos ? 1 : 0;
    return count;
  }

  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  transport::memory::MemorySteps steps_;
  transport::memory::MemoryBroker broker_{[this](auto step) { steps_.post(std::move(step)); }};
  std::unique_ptr<transport::bus::Bus> manager_bus_ = broker_.connect("manager");
  std::unique_ptr<transport::bus::Bus> agent_bus_ = broker_.connect("agent");
  const transport::link::BusSession session_ =
      *transport::link::BusSession::parse("agent-session-1");
  AgentHandler handler_;
  std::vector<transport::bus::BusMessage> heard_;  ///< at the session's `.in`
  std::vector<transport::bus::BusMessage> asked_;  ///< at `mcp.discovery`
  spdlog::sinks::ringbuffer_sink_mt* log_ = nullptr;
  std::shared_ptr<spdlog::logger> before_;
  std::unique_ptr<transport::bus::Bus::Subscription> in_;
  std::unique_ptr<transport::bus::Bus::Subscription> discovery_;
  std::unique_ptr<BusAgent> agent_;
};

TEST_F(BusAgentTest, AttachesItsSessionToTheLeague) {
  serve_discovery("1000");
  start_agent();
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_EQ(transport::bus::bus_header(asked_[0], "Mcp-Session-Id"), "agent-session-1");
  EXPECT_EQ(transport::bus::bus_header(asked_[0], "League-Id"), "league_a");
  EXPECT_TRUE(asked_[0].reply.starts_with("_INBOX.agent-session-1."));
  EXPECT_EQ(json::parse(asked_[0].payload)["method"], "session/attach");
}

TEST_F(BusAgentTest, WithoutALeagueItAsksForAny) {
  serve_discovery("1000", "league_x");
  start_agent("nats:manager");
  ASSERT_EQ(asked_.size(), 1U);
  EXPECT_TRUE(transport::bus::bus_header(asked_[0], "League-Id").empty());
  EXPECT_EQ(heard_.size(), 1U) << "attached to whichever answered";
}

TEST_F(BusAgentTest, SaysThatItLivesAtTheManagersInterval) {
  serve_discovery("1000");
  start_agent();
  EXPECT_EQ(heard_.size(), 1U);
  pass(3s);
  ASSERT_EQ(heard_.size(), 4U);
  for (const auto& beat : heard_) {
    EXPECT_EQ(beat.payload, transport::bus::kBusKeepAlive);
    EXPECT_TRUE(beat.reply.empty());
    EXPECT_EQ(transport::bus::bus_header(beat, "Content-Type"), "text/event-stream");
  }
}

TEST_F(BusAgentTest, AManagerThatSaysNothingOfItIsNotToldAndNotWatched) {
  serve_discovery("0");
  start_agent();
  pass(60s, 500ms);
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(logged("silent"), 0);
}

TEST_F(BusAgentTest, NoManagersIntervalIsTakenToExtremes) {
  serve_discovery("1");
  start_agent();
  pass(1s);
  EXPECT_LE(heard_.size(), 21U) << "at most each 50 ms";
  EXPECT_GE(heard_.size(), 20U);
}

TEST_F(BusAgentTest, AHugeIntervalIsNotTakenForATinyOne) {
  serve_discovery("4294967297");  // 2^32 + 1
  start_agent();
  pass(60s, 1s);
  EXPECT_EQ(heard_.size(), 1U);
  EXPECT_EQ(asked_.size(), 1U);
}

TEST_F(BusAgentTest, ASilentManagerIsAttachedToAgainAndTheLogSaysSo) {
  serve_discovery("1000");
  start_agent();
  pass_with_beats(10s, 1s);
  EXPECT_EQ(asked_.size(), 1U);
  EXPECT_EQ(logged("silent"), 0);
  pass(3s);
  EXPECT_EQ(asked_.size(), 2U);
  EXPECT_EQ(logged("the manager is silent; attaching to it again"), 1);
  send_beat();
  pass_with_beats(5s, 1s);
  EXPECT_EQ(asked_.size(), 2U);
  EXPECT_GE(logged("the manager is back"), 1);
}

TEST_F(BusAgentTest, SilenceIsNoticedAgainForAsLongAsItLasts) {
  serve_discovery("1000");
  start_agent();
  discovery_.reset();
  pass(1950ms);
  EXPECT_EQ(logged("silent"), 0);
  pass(600ms);
  EXPECT_EQ(logged("silent"), 1);
  pass(2s);
  EXPECT_EQ(logged("silent"), 2) << "the manager's answer may not have come";
  send_beat();
  send_beat();
  EXPECT_EQ(logged("the manager is back"), 1);
}

TEST_F(BusAgentTest, ALaterManagerMayKeepAnotherPace) {
  serve_discovery("1000");
  start_agent();
  serve_discovery("10000");
  pass(3s);
  EXPECT_EQ(asked_.size(), 2U);
  heard_.clear();
  pass_with_beats(60s, 10s);
  EXPECT_EQ(asked_.size(), 2U) << "no false alarms";
  EXPECT_EQ(heard_.size(), 6U) << "one pace at a time";
  serve_discovery("0");
  pass(26s);  // twice the interval, looked at each half of it
  heard_.clear();
  auto asked = asked_.size();
  pass(60s);
  EXPECT_EQ(asked_.size(), asked);
  EXPECT_TRUE(heard_.empty());
}

TEST_F(BusAgentTest, LooksForItsManagerForAsLongAsItTakes) {
  start_agent();
  pass(65s);
  EXPECT_EQ(logged("still looking"), 2) << "each 30 s";
  EXPECT_TRUE(heard_.empty());
  serve_discovery("1000");
  pass(2s);
  EXPECT_GE(heard_.size(), 1U);
}

TEST_F(BusAgentTest, ALostBusIsNotCalledASilentManager) {
  serve_discovery("1000");
  start_agent();
  broker_.stop();
  pass(3s);
  EXPECT_EQ(logged("silent"), 0);
  EXPECT_EQ(logged("the bus at memory://broker is lost"), 1);
  broker_.start();
  pass(2s);
  EXPECT_EQ(asked_.size(), 2U) << "the manager may have restarted too";
}

TEST_F(BusAgentTest, AnswersOfOtherLeaguesAndOtherTextsAttachNothing) {
  serve_discovery("1000", "league_b");
  start_agent();
  pass(2s);
  EXPECT_TRUE(heard_.empty());
  for (const std::string text : {"", "[]", "{}", R"({"result":1})", R"({"result":{}})",
                                 R"({"error":{"code":-32000,"message":"full"}})"}) {
    transport::bus::BusMessage answer;
    answer.subject = asked_.back().reply;
    answer.payload = text;
    ASSERT_TRUE(manager_bus_->publish(answer));
    steps_.run_until_idle();
  }
  EXPECT_TRUE(heard_.empty());
  serve_discovery("1000");
  pass(2s);
  EXPECT_GE(heard_.size(), 1U);
}

TEST_F(BusAgentTest, ServesWhatComesAtItsSession) {
  serve_discovery("1000");
  start_agent();
  std::vector<transport::bus::BusMessage> answers;
  auto inbox = listen("_INBOX.test.*", answers);
  call_agent(7, "_INBOX.test.1");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(json::parse(answers[0].payload)["id"], 7);
  EXPECT_EQ(handler_.methods, std::vector<std::string>{"CHOOSE"}) << "and no keep-alive";
}

TEST_F(BusAgentTest, StopsWhileASearchIsGoingOn) {
  start_agent();
  pass(500ms);
  agent_->begin_stop();
  serve_discovery("1000");
  pass(40s);
  EXPECT_TRUE(asked_.empty());
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(logged("still looking"), 0);
  agent_.reset();
  EXPECT_EQ(handler_.closed, 1);
}

TEST_F(BusAgentTest, AfterItsEndNothingOfItHappens) {
  serve_discovery("1000");
  start_agent();
  handler_.is_silent = true;
  call_agent(1, "_INBOX.test.1");
  agent_->stop(0ms);
  agent_->stop(0ms);
  agent_.reset();
  EXPECT_EQ(handler_.closed, 1);
  heard_.clear();
  std::vector<transport::bus::BusMessage> answers;
  auto inbox = listen("_INBOX.test.*", answers);
  handler_.kept.clear();  // answers too late
  call_agent(2, "_INBOX.test.2");
  pass(10s);
  EXPECT_TRUE(heard_.empty());
  EXPECT_EQ(handler_.methods.size(), 1U);
  ASSERT_EQ(answers.size(), 1U) << "the broker's word that nobody listens, no answer";
  EXPECT_TRUE(answers[0].is_no_responders);
}

}  // namespace
}  // namespace league::agent::bus
