#include "bus/transport/bus_listener.h"

#include <gtest/gtest.h>

#include <map>

#include "bus/transport/sessions_testing.h"

namespace league::transport::bus {
namespace {

/// A bus over another one, which keeps account of whom it stalls.
class StallingBus final : public Bus {
 public:
  explicit StallingBus(Bus& bus) : bus_(bus) {}

  core::Result<void> publish(const BusMessage& message) override { return bus_.publish(message); }
  core::Result<std::unique_ptr<Subscription>> subscribe(const std::string& subject,
                                                        const std::string& queue,
                                                        Handler handler) override {
    return bus_.subscribe(subject, queue, std::move(handler));
  }
  std::unique_ptr<Subscription> stall_publishers(const std::string& subject) override {
    ++begun;
    ++stalled[subject];
    return std::make_unique<Subscription>([this, subject] {
      if (--stalled[subject] == 0) stalled.erase(subject);
    });
  }
  std::unique_ptr<Subscription> watch(StateHandler handler) override {
    return bus_.watch(std::move(handler));
  }
  [[nodiscard]] bool is_connected() const override { return bus_.is_connected(); }
  bool flush(std::chrono::milliseconds patience) override { return bus_.flush(patience); }
  [[nodiscard]] std::size_t max_payload() const override { return bus_.max_payload(); }
  [[nodiscard]] std::string url() const override { return bus_.url(); }

  std::map<std::string, int> stalled;  ///< now, by subject
  int begun = 0;

 private:
  Bus& bus_;
};

TEST_F(BusSessionsTest, ARepeatedRequestIsCarriedOutOnce) {
  agent_handler_.is_silent = true;
  auto listener = BusListener::start(*other_bus_, other_, agent_handler_, time_, {});
  int answers = 0;
  auto inbox = agent_bus_->subscribe(link::session_inbox(agent_, "*"), "",
                                     [&answers](const BusMessage& /*answer*/) { ++answers; });
  auto send = [&](const std::string& name, const std::string& method) {
    auto message = bus_message(link::session_out(other_),
                               R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"("})", agent_,
                               rpc::MessageDirection::kClientToServer);
    message.reply = link::session_inbox(agent_, name);
    EXPECT_TRUE(agent_bus_->publish(message));
    settle();
  };
  send("a", "slow");
  pass(2s);
  send("a", "slow");
  EXPECT_EQ(agent_handler_.methods, std::vector<std::string>{"slow"}) << "it is being worked at";
  agent_handler_.kept.clear();  // answered
  settle();
  EXPECT_EQ(answers, 1);
  send("a", "slow");
  EXPECT_EQ(answers, 2) << "the answer again, in case the first was lost";
  EXPECT_EQ(agent_handler_.methods.size(), 1U);
  agent_handler_.is_silent = false;
  send("b", "slow");
  send("a", "other");
  EXPECT_EQ(agent_handler_.methods, (std::vector<std::string>{"slow", "slow", "other"}))
      << "other requests";
  pass(11s);
  send("a", "slow");
  EXPECT_EQ(agent_handler_.methods.size(), 4U) << "forgotten";
  (*listener)->stop(0ms);
}

/// A manager whose rate limiter allows a session ten requests, and one a second.
class BusListenerStallTest : public BusSessionsTest {
 protected:
  void SetUp() override {
    link::RequestBudgetOptions budgets;
    budgets.allowances.fill({.requests_per_second = 1, .log_bytes_per_second = 1e9});
    budgets.burst = 10s;
    BusSessionsOptions options;
    options.league_id = "league_a";
    options.keep_alive = 0ms;
    options.limiter = std::make_shared<link::RateLimiter>(
        budgets, [this](std::string_view, std::string_view, std::string_view) { return sender_; },
        time_);
    sessions_ = *BusSessions::start(stalling_bus_, manager_, time_, time_, random_, options);
    ASSERT_TRUE(sessions_->attach(agent_));
  }
  void TearDown() override {
    sessions_.reset();
    BusSessionsTest::TearDown();
  }
  /// How many of so many messages reach the manager.
  std::size_t send(int messages) {
    auto message =
        bus_message(link::session_in(agent_),
                    R"({"jsonrpc":"2.0","id":1,"method":"m","params":{"auth_token":"t"}})", agent_,
                    rpc::MessageDirection::kClientToServer);
    for (int i = 0; i < messages; ++i) EXPECT_TRUE(agent_bus_->publish(message));
    settle();
    return std::exchange(manager_.methods, {}).size();
  }
  /// Floods until it is stalled, or has been paused five times.
  void flood() {
    for (int i = 0; i < 5 && stalling_bus_.stalled.empty(); ++i) {
      (void)send(500);
      if (stalling_bus_.stalled.empty()) pass(1s);
    }
  }

  StallingBus stalling_bus_{*manager_bus_};
  std::optional<link::RequestSender> sender_;  ///< as which the rate limiter knows everybody
};

TEST_F(BusListenerStallTest, WhoGoesOnAfterItsPausesIsStalledForOne) {
  EXPECT_EQ(send(500), 10U);
  EXPECT_EQ(stalling_bus_.begun, 0) << "a first pause is only one";
  flood();
  EXPECT_EQ(stalling_bus_.stalled, (std::map<std::string, int>{{link::session_in(agent_), 1}}));
  pass(4900ms);
  EXPECT_EQ(stalling_bus_.stalled.size(), 1U);
  EXPECT_EQ(send(1), 0U);
  pass(200ms);
  EXPECT_TRUE(stalling_bus_.stalled.empty());
  EXPECT_EQ(send(1), 1U) << "it is heard again";
  (void)send(500);
  EXPECT_EQ(stalling_bus_.stalled.size(), 1U) << "at once, where it goes on";
  pass(20s);
  EXPECT_TRUE(stalling_bus_.stalled.empty());
  (void)send(500);
  EXPECT_TRUE(stalling_bus_.stalled.empty()) << "but forgiven after a while";
}

TEST_F(BusListenerStallTest, WhoIsTooFastNowAndThenIsNotStalled) {
  for (int i = 0; i < 5; ++i) {
    EXPECT_GE(send(500), 1U);
    pass(15s);
  }
  EXPECT_EQ(stalling_bus_.begun, 0);
}

TEST_F(BusListenerStallTest, RefereesAreNotStalledButPlayersAre) {
  sender_ = {link::Standing::kStaff, "REF01"};
  flood();
  EXPECT_EQ(stalling_bus_.begun, 0);
  pass(15s);
  sender_ = {link::Standing::kPlayer, "P01"};
  flood();
  EXPECT_EQ(stalling_bus_.begun, 1);
}

TEST_F(BusListenerStallTest, AStallEndsWithItsListener) {
  flood();
  ASSERT_FALSE(stalling_bus_.stalled.empty());
  sessions_->stop(0ms);
  EXPECT_TRUE(stalling_bus_.stalled.empty());
  pass(10s);
  EXPECT_TRUE(stalling_bus_.stalled.empty());
}

}  // namespace
}  // namespace league::transport::bus
