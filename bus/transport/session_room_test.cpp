#include <algorithm>
#include <functional>

#include "bus/transport/bus_sessions.h"
#include "bus/transport/sessions_testing.h"

namespace league::transport::bus {
namespace {

TEST_F(BusSessionsTest, TakesNoMoreSessionsThanItMay) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.max_sessions = 2;
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  ASSERT_TRUE(sessions_->attach(*link::BusSession::parse("session-a")));
  ASSERT_TRUE(sessions_->attach(*link::BusSession::parse("session-b")));
  EXPECT_FALSE(sessions_->attach(*link::BusSession::parse("session-c")));
  time_.advance(11min);
  EXPECT_TRUE(sessions_->attach(*link::BusSession::parse("session-c")))
      << "one was silent for long";
  EXPECT_EQ(sessions_->size(), 2U);
}

/// So that a rate limiter allows a session ten requests, and one a second.
std::shared_ptr<link::RateLimiter> narrow_limiter(const core::Clock& clock) {
  link::RequestBudgetOptions budgets;
  budgets.allowances.fill({.requests_per_second = 1, .log_bytes_per_second = 1e9});
  budgets.burst = 10s;
  auto nobody = [](std::string_view, std::string_view, std::string_view) {
    return std::optional<link::RequestSender>();
  };
  return std::make_shared<link::RateLimiter>(budgets, nobody, clock);
}

TEST_F(BusSessionsTest, AStrangerTakesTurns) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.keep_alive = 0ms;
  auto nobody = [](std::string_view, std::string_view, std::string_view) {
    return std::optional<link::RequestSender>();
  };
  options.limiter =
      std::make_shared<link::RateLimiter>(link::RequestBudgetOptions(), nobody, time_);
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  ASSERT_TRUE(sessions_->attach(agent_));
  auto message = bus_message(link::session_in(agent_), R"({"jsonrpc":"2.0","method":"m"})", agent_,
                             rpc::MessageDirection::kClientToServer);
  auto send = [&](int count) {
    for (int i = 0; i < count; ++i) EXPECT_TRUE(agent_bus_->publish(message));
    settle();
    return std::exchange(manager_.methods, {}).size();
  };
  EXPECT_EQ(send(500), 100U);
  EXPECT_EQ(send(1), 0U);
  pass(1100ms);
  EXPECT_EQ(send(50), 50U);
  sessions_->stop(0ms);
}

TEST_F(BusSessionsTest, WhatIsTooMuchReachesNobodyAndEndsAtTheBroker) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.keep_alive = 0ms;
  options.limiter = narrow_limiter(time_);
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  ASSERT_TRUE(sessions_->attach(agent_));
  ASSERT_TRUE(sessions_->attach(other_));
  std::vector<std::string> answers;
  auto inbox =
      agent_bus_->subscribe(link::session_inbox(agent_, "x"), "",
                            [&](const BusMessage& heard) { answers.push_back(heard.payload); });
  auto flood = [&](int messages) {
    auto message = bus_message(link::session_in(agent_), R"({"jsonrpc":"2.0","id":1,"method":"m"})",
                               agent_, rpc::MessageDirection::kClientToServer);
    message.reply = link::session_inbox(agent_, "x");
    for (int i = 0; i < messages; ++i) EXPECT_TRUE(agent_bus_->publish(message));
    settle();
    return std::exchange(manager_.methods, {}).size();
  };
  EXPECT_EQ(flood(500), 10U);
  auto refused = std::ranges::count_if(
      answers, [](const std::string& text) { return text.find("E091") != std::string::npos; });
  EXPECT_GT(refused, 0) << "it is told when to come back";
  EXPECT_LT(refused, 300) << "but not each time";
  answers.clear();
  EXPECT_EQ(flood(10), 0U);
  EXPECT_TRUE(std::ranges::all_of(answers, &std::string::empty)) << "the broker says: nobody";
  auto quiet = bus_message(link::session_in(other_), R"({"jsonrpc":"2.0","method":"n"})", other_,
                           rpc::MessageDirection::kClientToServer);
  ASSERT_TRUE(other_bus_->publish(quiet));
  settle();
  EXPECT_EQ(std::exchange(manager_.methods, {}), std::vector<std::string>{"n"}) << "its own";
  pass(6s);
  EXPECT_GE(flood(1), 1U) << "it is heard again";
  sessions_->stop(0ms);
}

TEST_F(BusSessionsTest, WhoIsServedFirstHasABusOfItsOwn) {
  sessions_.reset();
  auto first_bus = broker_.connect("first");
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.max_sessions = 1;
  options.first_bus = first_bus.get();
  options.served_first = {agent_};
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  EXPECT_EQ(sessions_->size(), 1U) << "it is expected";
  broker_.cut("manager");
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one") << "found and served all the same";
  EXPECT_EQ(manager_.methods, std::vector<std::string>{"one"}) << "once";
  broker_.heal("manager");
  settle();
  time_.advance(24h);
  EXPECT_FALSE(sessions_->attach(other_)) << "nobody takes its place, however silent it is";
  sessions_.reset();
  settle();
}

TEST_F(BusSessionsTest, AnAgentIsToldThatThereIsNoRoom) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.max_sessions = 1;
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  ASSERT_TRUE(sessions_->attach(other_));
  auto answer =
      Discovering(*agent_bus_, agent_, link::session_discovery(agent_), "initialize").ask([this] {
        settle();
      });
  EXPECT_EQ(answer["error"]["code"], -32603) << "no code of our own making";
  EXPECT_EQ(answer["error"]["data"]["error_code"], "E091");
  auto asked = ask("nats:manager", "one", 3s);
  pass(3100ms);
  EXPECT_NE(result_of(*asked).find("has reached its limit of sessions"), std::string::npos)
      << result_of(*asked);
  auto patient = ask("nats:manager", "two", 90s);
  pass(70s);
  EXPECT_EQ(result_of(*patient), "two") << "there was room in the end";
}

TEST_F(BusSessionsTest, WhoeverNeverSpeaksMakesRoomFirst) {
  sessions_.reset();
  BusSessionsOptions options;
  options.league_id = "league_a";
  options.max_sessions = 2;
  sessions_ = *BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
  EXPECT_EQ(result_of(*ask("nats:manager", "one")), "one");
  ASSERT_TRUE(sessions_->attach(*link::BusSession::parse("hostile-1")));
  EXPECT_FALSE(sessions_->attach(*link::BusSession::parse("hostile-2")));
  time_.advance(61s);
  EXPECT_TRUE(sessions_->attach(*link::BusSession::parse("hostile-2")));
  EXPECT_FALSE(sessions_->attach(*link::BusSession::parse("hostile-3")));
  EXPECT_EQ(manager_.closed, 1);
  EXPECT_EQ(result_of(*ask("nats:manager", "two")), "two") << "it kept its place";
  EXPECT_EQ(sessions_->size(), 2U);
}

}  // namespace
}  // namespace league::transport::bus
