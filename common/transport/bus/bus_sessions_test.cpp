// Both sides of sessions on a bus, with a broker inside the process that can be cut and restarted.
#include "common/transport/bus/bus_sessions.h"

#include <gtest/gtest.h>

#include <future>
#include <nlohmann/json.hpp>

#include "common/transport/bus/bus_connection.h"
#include "common/transport/bus/bus_context.h"
#include "common/transport/bus/bus_listener.h"
#include "common/transport/bus/memory_bus.h"
#include "common/transport/link_caller.h"
#include "common/transport/testing_links.h"
#include "tests/support/fake_clock.h"

namespace league::transport {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

/// Answers each request with its method and whose it was, or keeps the slots.
class SessionHandler final : public MessageHandler {
 public:
  void on_message(Inbound message, ReplySlot reply) override {
    auto request = json::parse(message.bytes);
    sessions.push_back(std::string(message.context.session.session_id->view()));
    contexts.push_back(message.context);
    methods.push_back(request.value("method", ""));
    channel = message.channel;
    if (is_silent) {
      kept.push_back(std::move(reply));
      return;
    }
    OutboundReply answer;
    answer.bytes =
        json{{"jsonrpc", "2.0"}, {"id", request.value("id", json())}, {"result", methods.back()}}
            .dump();
    reply.send(std::move(answer));
  }
  void on_channel_closed(const PeerChannel& /*channel*/) override { ++closed; }

  std::vector<std::string> sessions;
  std::vector<std::string> methods;
  std::vector<rpc::MessageContext> contexts;
  std::shared_ptr<PeerChannel> channel;
  std::vector<ReplySlot> kept;
  bool is_silent = false;
  int closed = 0;
};

/// A manager, and one agent that calls it and can be called.
class BusSessionsTest : public ::testing::Test {
 protected:
  void SetUp() override { start_manager(); }
  void TearDown() override {
    connections_.clear();
    settle();
    connector_.reset();
    settle();
  }
  void start_manager() {
    BusSessionsOptions options;
    options.league_id = "league_a";
    options.keep_alive = 1s;
    options.on_gone = [this](const BusSession& session) { gone_.push_back(session.str()); };
    options.on_back = [this](const BusSession& session) { back_.push_back(session.str()); };
    auto started = BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
    ASSERT_TRUE(started);
    sessions_ = std::move(*started);
  }
  /// Delivers what waits on the hub, which is the broker's thread too.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      std::promise<void> done;
      hub_->post([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }
  void pass(std::chrono::milliseconds time) {
    for (auto passed = 0ms; passed < time; passed += 50ms) {
      time_.advance(50ms);
      settle();
    }
  }
  /// Opens a connection to `url`, which is kept, and asks it `method`.
  struct Asked {
    std::optional<CallOutcome> outcome;
  };
  std::shared_ptr<Asked> ask(const std::string& url, const std::string& method,
                             std::chrono::milliseconds limit = 10s) {
    auto asked = std::make_shared<Asked>();
    OutboundCall call;
    call.endpoint = *parse_endpoint(url);
    call.id = rpc::Id(++last_id_);
    call.bytes = std::make_shared<const std::string>(
        json{{"jsonrpc", "2.0"}, {"id", last_id_}, {"method", method}}.dump());
    call.deadline = time_.steady_now() + limit;
    caller_->call(std::move(call), [asked](CallOutcome outcome) { asked->outcome = outcome; });
    settle();
    return asked;
  }
  static std::string result_of(const Asked& asked) {
    if (!asked.outcome) return "no outcome";
    if (asked.outcome->error) return asked.outcome->error->message;
    return json::parse(asked.outcome->bytes).value("result", asked.outcome->bytes);
  }

  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  std::unique_ptr<Hub> hub_ = *Hub::start();
  MemoryBroker broker_{[this](auto step) { hub_->post(std::move(step)); }};
  std::unique_ptr<Bus> manager_bus_ = broker_.connect("manager");
  std::unique_ptr<Bus> agent_bus_ = broker_.connect("agent");
  std::unique_ptr<Bus> other_bus_ = broker_.connect("other");
  const BusSession agent_ = *BusSession::parse("agent-session-1");
  const BusSession other_ = *BusSession::parse("other-session-2");
  SessionHandler manager_;
  SessionHandler agent_handler_;
  std::vector<std::string> gone_;
  std::vector<std::string> back_;
  std::vector<std::shared_ptr<MessageConnection>> connections_;
  std::unique_ptr<BusSessions> sessions_;
  std::unique_ptr<BusConnector> connector_ =
      std::make_unique<BusConnector>(*hub_, *agent_bus_, agent_, time_, time_, random_);
  std::unique_ptr<LinkCaller> caller_ = std::make_unique<LinkCaller>(*connector_, time_, time_);
  std::int64_t last_id_ = 0;
};

TEST_F(BusSessionsTest, AnAgentFindsItsManagerAndAsks) {
  auto asked = ask("nats:manager", "ping");
  EXPECT_EQ(result_of(*asked), "ping");
  EXPECT_EQ(sessions_->size(), 1U);
  EXPECT_EQ(manager_.sessions.at(0), agent_.str());
  const auto& context = manager_.contexts.at(0);
  EXPECT_EQ(context.transport.type, rpc::TransportType::kNats);
  auto nats = std::get<std::shared_ptr<const rpc::NatsMetadata>>(context.transport.metadata);
  EXPECT_EQ(nats->subject, "mcp.session.agent-session-1.in");
  EXPECT_EQ(asked->outcome->context.transport.type, rpc::TransportType::kNats);
  EXPECT_EQ(result_of(*ask("nats:manager/league_a", "again")), "again");
}

TEST_F(BusSessionsTest, AnotherLeagueIsNotFound) {
  auto asked = ask("nats:manager/league_b", "ping", 3s);
  pass(1900ms);
  EXPECT_FALSE(asked->outcome);
  pass(1050ms);
  EXPECT_NE(result_of(*asked).find("no manager"), std::string::npos) << result_of(*asked);
  EXPECT_EQ(sessions_->size(), 0U);
}

TEST_F(BusSessionsTest, AnAgentIsCalledByItsSession) {
  BusListenerOptions options;
  auto listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, options);
  EXPECT_EQ(result_of(*ask("nats:other-session-2", "CHOOSE")), "CHOOSE");
  EXPECT_EQ(agent_handler_.sessions.at(0), other_.str());
}

TEST_F(BusSessionsTest, WhoIsNotThereCostsTheirPatience) {
  auto asked = ask("nats:other-session-2", "CHOOSE");
  pass(1900ms);
  EXPECT_FALSE(asked->outcome);
  pass(300ms);
  EXPECT_NE(result_of(*asked).find("nobody listens"), std::string::npos) << result_of(*asked);
}

TEST_F(BusSessionsTest, WhoRestartsIsOnlyLate) {
  auto asked = ask("nats:other-session-2", "CHOOSE");
  pass(500ms);
  auto listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, {});
  pass(200ms);
  EXPECT_EQ(result_of(*asked), "CHOOSE");
}

TEST_F(BusSessionsTest, AManagerThatRestartsIsFoundAgain) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  sessions_.reset();
  EXPECT_EQ(manager_.closed, 1);
  auto asked = ask("nats:manager", "two");
  pass(500ms);
  EXPECT_FALSE(asked->outcome);
  start_manager();
  pass(1500ms);
  EXPECT_EQ(result_of(*asked), "two");
  EXPECT_EQ(manager_.methods, (std::vector<std::string>{"one", "two"}));
}

TEST_F(BusSessionsTest, WhatTheBrokerLosesIsAskedAgain) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  broker_.stop();
  auto asked = ask("nats:manager", "two");
  pass(1s);
  EXPECT_FALSE(asked->outcome);
  broker_.start();
  pass(100ms);
  EXPECT_EQ(result_of(*asked), "two");
}

TEST_F(BusSessionsTest, AnAnswerThatIsLostIsGivenAgain) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  manager_.is_silent = true;
  auto asked = ask("nats:manager", "two");
  manager_.is_silent = false;
  manager_.kept.clear();  // answers with an error, which the cut agent does not get
  broker_.restart();
  pass(100ms);
  EXPECT_TRUE(asked->outcome);
}

TEST_F(BusSessionsTest, ASilentAgentIsNoticedOnceItHasSaidThatItLives) {
  ASSERT_TRUE(sessions_->attach(agent_));
  pass(5s);
  EXPECT_TRUE(gone_.empty()) << "it never promised to say anything";
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, {});
  (*listener)->send_keep_alive();
  pass(1500ms);
  EXPECT_TRUE(gone_.empty());
  pass(2s);
  EXPECT_EQ(gone_, std::vector<std::string>{agent_.str()});
  (*listener)->send_keep_alive();
  pass(100ms);
  EXPECT_EQ(back_, std::vector<std::string>{agent_.str()});
}

TEST_F(BusSessionsTest, ManagersSayThatTheyLive) {
  int beats = 0;
  BusListenerOptions options;
  options.on_sign_of_life = [&beats](bool is_keep_alive) { beats += is_keep_alive ? 1 : 0; };
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, options);
  ASSERT_TRUE(sessions_->attach(agent_));
  pass(3s);
  EXPECT_EQ(beats, 3);
  EXPECT_TRUE(agent_handler_.methods.empty()) << "keep-alives are no messages";
}

TEST_F(BusSessionsTest, WhatIsPushedComesAsEvents) {
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, {});
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  ASSERT_TRUE(manager_.channel);
  EXPECT_TRUE(manager_.channel->push(
      std::make_shared<const std::string>(R"({"jsonrpc":"2.0","method":"notifications/x"})")));
  settle();
  EXPECT_EQ(agent_handler_.methods, std::vector<std::string>{"notifications/x"});
}

TEST_F(BusSessionsTest, AnswersGoOnlyWhereAnswersMayGo) {
  ASSERT_TRUE(sessions_->attach(agent_));
  std::vector<std::string> heard;
  auto victim = agent_bus_->subscribe("mcp.session.>", "", [&heard](const BusMessage& message) {
    heard.push_back(message.subject);
  });
  auto hostile = bus_message(session_in(agent_), R"({"jsonrpc":"2.0","id":1,"method":"x"})", agent_,
                             rpc::MessageDirection::kClientToServer);
  hostile.reply = session_in(other_);
  ASSERT_TRUE(other_bus_->publish(hostile));
  settle();
  EXPECT_EQ(heard, (std::vector<std::string>{"mcp.session.agent-session-1.in",
                                             "mcp.session.agent-session-1.out"}))
      << "the answer goes to the session that asked";
  heard.clear();
  hostile.subject = std::string(kDiscoverySubject);
  ASSERT_TRUE(other_bus_->publish(hostile));
  settle();
  EXPECT_TRUE(heard.empty());
}

TEST_F(BusSessionsTest, TakesNoMoreSessionsThanItMay) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.max_sessions = 2;
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  ASSERT_TRUE(sessions_->attach(*BusSession::parse("session-a")));
  ASSERT_TRUE(sessions_->attach(*BusSession::parse("session-b")));
  EXPECT_FALSE(sessions_->attach(*BusSession::parse("session-c")));
  time_.advance(11min);
  EXPECT_TRUE(sessions_->attach(*BusSession::parse("session-c"))) << "one was silent for long";
  EXPECT_EQ(sessions_->size(), 2U);
}

}  // namespace
}  // namespace league::transport
