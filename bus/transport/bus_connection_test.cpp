#include "bus/transport/bus_connection.h"

#include "bus/transport/sessions_testing.h"

namespace league::transport::bus {
namespace {

using BusConnectionTest = BusSessionsTest;

TEST_F(BusConnectionTest, WhoIsNotThereCostsTheirPatience) {
  auto asked = ask("nats:other-session-2", "CHOOSE");
  pass(1900ms);
  EXPECT_FALSE(asked->outcome);
  pass(300ms);
  EXPECT_NE(result_of(*asked).find("nobody listens"), std::string::npos) << result_of(*asked);
}

TEST_F(BusConnectionTest, WhoRestartsIsOnlyLate) {
  auto asked = ask("nats:other-session-2", "CHOOSE");
  pass(500ms);
  auto listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, {});
  pass(200ms);
  EXPECT_EQ(result_of(*asked), "CHOOSE");
}

TEST_F(BusConnectionTest, WhatTheBrokerLosesIsAskedAgain) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  broker_.stop();
  auto asked = ask("nats:manager", "two");
  pass(1s);
  EXPECT_FALSE(asked->outcome);
  broker_.start();
  pass(100ms);
  EXPECT_EQ(result_of(*asked), "two");
}

TEST_F(BusConnectionTest, AnAnswerThatIsLostIsGivenAgain) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  manager_.is_silent = true;
  auto asked = ask("nats:manager", "two");
  manager_.is_silent = false;
  broker_.cut("agent");
  manager_.kept.clear();  // answers with an error, which the cut agent does not get
  settle();
  EXPECT_FALSE(asked->outcome);
  broker_.heal("agent");
  pass(100ms);
  EXPECT_EQ(result_of(*asked), "two");
}

TEST_F(BusConnectionTest, AnAnswerThatNamesNoRequestEndsIt) {
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  manager_.is_silent = true;
  auto asked = ask("nats:manager", "two");
  manager_.kept.clear();  // answers with an error whose id is null
  settle();
  ASSERT_TRUE(asked->outcome) << "else it would wait for its deadline";
  EXPECT_EQ(asked->outcome->error->code, core::ErrorCode::kConnectionError);
}

TEST_F(BusConnectionTest, OnlyTheFirstAnswerCounts) {
  std::string inbox;
  auto peer = other_bus_->subscribe(link::session_out(other_), "",
                                    [&inbox](const BusMessage& message) { inbox = message.reply; });
  auto asked = ask("nats:other-session-2", "CHOOSE");
  ASSERT_TRUE(inbox.starts_with("_INBOX.agent-session-1."));
  auto answer = [this](const std::string& subject, const std::string& result) {
    auto text = json{{"jsonrpc", "2.0"}, {"id", last_id_}, {"result", result}}.dump();
    ASSERT_TRUE(other_bus_->publish(
        bus_message(subject, text, other_, rpc::MessageDirection::kServerToClient)));
    settle();
  };
  auto stem = inbox.substr(0, inbox.rfind('.') + 1);
  answer(stem + "99", "of another request");
  answer(stem + "x", "of none");
  EXPECT_FALSE(asked->outcome);
  answer(inbox, "first");
  answer(inbox, "second");
  EXPECT_EQ(result_of(*asked), "first");
}

TEST_F(BusConnectionTest, AnOpenRequestGoesOutAgain) {
  std::vector<std::string> copies;
  auto peer = other_bus_->subscribe(
      link::session_out(other_), "",
      [&copies](const BusMessage& message) { copies.push_back(message.reply + message.payload); });
  auto asked = ask("nats:other-session-2", "CHOOSE", 30s);
  std::vector<std::size_t> after_seconds;
  for (int second = 0; second < 20; ++second) {
    pass(1s);
    after_seconds.push_back(copies.size());
  }
  EXPECT_EQ(after_seconds,
            (std::vector<std::size_t>{1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(std::ranges::count(copies, copies.at(0)), 4) << "the same bytes";
  EXPECT_FALSE(asked->outcome);
}

TEST_F(BusConnectionTest, WhoWasKilledIsAskedAgainWhenItAttaches) {
  agent_handler_.is_silent = true;
  auto listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, {});
  auto asked = ask("nats:other-session-2", "CHOOSE", 30s);
  pass(9s);
  other_bus_ = broker_.connect("other");  // its next process
  agent_handler_.is_silent = false;
  listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, {});
  pass(1s);
  EXPECT_FALSE(asked->outcome);
  auto attach = bus_message(link::session_discovery(other_), attach_request(1), other_,
                            rpc::MessageDirection::kClientToServer);
  attach.reply = link::session_inbox(other_, "x");
  ASSERT_TRUE(other_bus_->publish(attach));
  settle();
  EXPECT_EQ(result_of(*asked), "CHOOSE");
}

TEST_F(BusConnectionTest, AManagerThatWasFoundIsWaitedFor) {
  // It answers, but the broker does not know yet that it listens to the session.
  sessions_.reset();
  auto discovery = manager_bus_->subscribe(
      std::string(link::kSessionDiscoveries), "", [this](const BusMessage& message) {
        BusMessage answer;
        answer.subject = message.reply;
        answer.payload = R"({"jsonrpc":"2.0","id":1,"result":{"league_id":"league_a"}})";
        (void)manager_bus_->publish(answer);
      });
  auto asked = ask("nats:manager", "one");
  pass(4s);
  EXPECT_FALSE(asked->outcome) << result_of(*asked);
  BusListenerOptions options;
  options.side = BusSide::kServer;
  auto listener = BusListener::start(*manager_bus_, agent_, manager_, time_, options);
  pass(200ms);
  EXPECT_EQ(result_of(*asked), "one");
}

TEST_F(BusConnectionTest, WhoHasNoDeadlineFindsTheManagerToo) {
  link::OutboundCall call;
  call.endpoint = *link::parse_endpoint("nats:manager");
  call.id = rpc::Id(1);
  call.bytes = R"({"jsonrpc":"2.0","id":1,"method":"x"})";
  std::shared_ptr<link::MessageConnection> opened;
  connector_->connect(call.endpoint, core::Clock::Steady::max(), [&opened](auto connection) {
    if (connection) opened = std::move(*connection);
  });
  settle();
  EXPECT_TRUE(opened);
}

}  // namespace
}  // namespace league::transport::bus
