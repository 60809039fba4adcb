#include "bus/transport/bus_sessions.h"

#include <algorithm>
#include <functional>

#include "bus/transport/sessions_testing.h"

namespace league::transport::bus {
namespace {

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

TEST_F(BusSessionsTest, ASilentAgentIsNoticedOnceItHasSaidThatItLives) {
  ASSERT_TRUE(sessions_->attach(agent_));
  pass(5s);
  EXPECT_TRUE(gone_.empty()) << "it never promised to say anything";
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, {});
  (*listener)->send_keep_alive();
  pass(2500ms);
  EXPECT_TRUE(gone_.empty());
  pass(2s);
  EXPECT_EQ(gone_, std::vector<std::string>{agent_.str()});
  (*listener)->send_keep_alive();
  pass(100ms);
  EXPECT_EQ(back_, std::vector<std::string>{agent_.str()});
}

TEST_F(BusSessionsTest, TimeWithoutABrokerIsNobodysSilence) {
  ASSERT_TRUE(sessions_->attach(agent_));
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, {});
  (*listener)->send_keep_alive();
  pass(1900ms);
  broker_.cut("manager");
  settle();
  broker_.heal("manager");  // before the next pulse
  pass(2900ms);
  EXPECT_TRUE(gone_.empty());
  pass(2s);
  EXPECT_EQ(gone_, std::vector<std::string>{agent_.str()});
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
  auto hostile = bus_message(link::session_in(agent_), R"({"jsonrpc":"2.0","id":1,"method":"x"})",
                             agent_, rpc::MessageDirection::kClientToServer);
  hostile.reply = link::session_in(other_);
  ASSERT_TRUE(other_bus_->publish(hostile));
  settle();
  std::sort(heard.begin(), heard.end());  // listeners have no order among each other
  EXPECT_EQ(heard, (std::vector<std::string>{"mcp.session.agent-session-1.in",
                                             "mcp.session.agent-session-1.out"}))
      << "the answer goes to the session that asked";
  for (const auto& subject :
       {std::string(link::kDiscoverySubject), link::session_discovery(agent_)}) {
    heard.clear();
    hostile.subject = subject;
    ASSERT_TRUE(other_bus_->publish(hostile));
    settle();
    EXPECT_TRUE(heard.empty());
  }
}

TEST_F(BusSessionsTest, ASessionsOwnSubjectAttachesThatSessionAlone) {
  auto settled = [this] { settle(); };
  Discovering own(*agent_bus_, agent_, link::session_discovery(agent_), "session/attach");
  auto answer = own.ask(settled);
  EXPECT_EQ(answer["result"].value("session_id", ""), agent_.str());
  EXPECT_EQ(sessions_->size(), 1U);
  answer = own.naming(other_.str()).ask(settled);
  EXPECT_EQ(answer["error"]["code"], -32602);
  EXPECT_TRUE(own.naming(agent_.str()).reply_at("_INBOX.someone.else").ask(settled).is_null());
  EXPECT_TRUE(Discovering(*agent_bus_, agent_, "mcp.discovery.short", "session/attach")
                  .naming("short")
                  .ask(settled)["error"]
                  .is_object());
  EXPECT_EQ(sessions_->size(), 1U);
}

TEST_F(BusSessionsTest, AHandshakeAtDiscoveryBeginsTheSession) {
  Discovering handshake(*agent_bus_, agent_, link::session_discovery(agent_), "initialize");
  auto answer = handshake.reply_at(link::session_out(agent_)).ask([this] { settle(); });
  EXPECT_EQ(answer, (json{{"jsonrpc", "2.0"}, {"id", 7}, {"result", "initialize"}}))
      << "the handler's word, and not that of session/attach";
  EXPECT_EQ(manager_.sessions, std::vector<std::string>{agent_.str()});
  EXPECT_EQ(result_of(*ask("nats:manager", "tools/list")), "tools/list");
  EXPECT_EQ(sessions_->size(), 1U);
}

TEST_F(BusSessionsTest, AHandshakeWithoutHeadersNamesItsSessionByTheReplySubject) {
  const auto uuid = *link::BusSession::parse("3d594650-3436-11e5-bf21-0800200c9a66");
  BusMessage literal;
  literal.subject = link::kDiscoverySubject;
  literal.reply = link::session_out(uuid);
  literal.payload = R"({"jsonrpc":"2.0","id":7,"method":"initialize"})";
  std::vector<std::string> answers;
  auto out = agent_bus_->subscribe(literal.reply, "", [&](const BusMessage& answer) {
    answers.push_back(json::parse(answer.payload).value("result", answer.payload));
  });
  ASSERT_TRUE(agent_bus_->publish(literal));
  settle();
  EXPECT_EQ(answers, std::vector<std::string>{"initialize"});
  EXPECT_EQ(manager_.sessions, std::vector<std::string>{uuid.str()});
}

TEST_F(BusSessionsTest, WithoutAnIntervalNothingIsSentAndNobodyWatched) {
  sessions_.reset();
  start_manager(0ms);
  int beats = 0;
  BusListenerOptions options;
  options.on_sign_of_life = [&beats](bool) { ++beats; };
  auto listener = BusListener::start(*agent_bus_, agent_, agent_handler_, time_, options);
  ASSERT_TRUE(sessions_->attach(agent_));
  (*listener)->send_keep_alive();
  time_.clear();
  pass(1s);
  EXPECT_EQ(time_.waiting(), 0U);
  EXPECT_EQ(beats, 0);
  EXPECT_TRUE(gone_.empty());
}

TEST_F(BusSessionsTest, AClosedChannelIsReplacedWhenItsAgentAttaches) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  auto first = manager_.channel->id();
  manager_.channel->close();
  auto asked = ask("nats:manager", "two");
  pass(500ms);
  EXPECT_EQ(result_of(*asked), "two");
  EXPECT_EQ(manager_.closed, 1);
  EXPECT_NE(manager_.channel->id(), first) << "an id is never used twice";
  EXPECT_EQ(first.find(agent_.str()), std::string::npos) << "logs show ids";
}

TEST_F(BusSessionsTest, WhoHasStoppedTakesNobody) {
  sessions_->begin_stop();
  auto attached = sessions_->attach(agent_);
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, core::ErrorCode::kShuttingDown);
  sessions_->stop(0ms);
  sessions_->stop(0ms);
  pass(10s);
  EXPECT_EQ(sessions_->size(), 0U);
}

TEST_F(BusSessionsTest, EventsCarryTheConversationButNoOtherHeader) {
  ASSERT_TRUE(sessions_->attach(agent_));
  auto message = bus_message(link::session_in(agent_), {}, agent_,
                             rpc::MessageDirection::kClientToServer, std::string(1000, 't'));
  message.headers.emplace_back(kContentTypeHeader, link::kEventStreamType);
  for (int i = 0; i < 3; ++i)
    message.payload += "data: {\"jsonrpc\":\"2.0\",\"method\":\"m" + std::to_string(i) + "\"}\n\n";
  ASSERT_TRUE(agent_bus_->publish(message));
  settle();
  EXPECT_EQ(manager_.methods, (std::vector<std::string>{"m0", "m1", "m2"}));
  auto nats = std::get<std::shared_ptr<const rpc::NatsMetadata>>(
      manager_.contexts.at(0).transport.metadata);
  EXPECT_EQ(nats->trace_id, std::string(256, 't')) << "strangers choose it";
}

}  // namespace
}  // namespace league::transport::bus
