#include "common/mcp/client/session_caller.h"

#include <gtest/gtest.h>

#include "common/mcp/client/client_testing.h"
#include "common/rpc/codec.h"
#include "tests/support/fake_clock.h"

namespace league::mcp::client {
namespace {

using core::ErrorCode;
using nlohmann::json;
using std::chrono::seconds;
using testing::answer_handshake;
using testing::ScriptedConnection;

class SessionCallerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    caller_ = std::make_unique<SessionCaller>(SessionTools{connector_, time_, time_});
    connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
      methods_.push_back(message.value("method", "response"));
      if (answer_handshake(server, message)) return;
      server.result(message, {{"said", message["params"]["arguments"]}});
    };
  }
  void call(rpc::Id id, const std::string& url = "stdio:bot") {
    transport::link::OutboundCall out;
    out.endpoint = *transport::link::parse_endpoint(url);
    out.id = id;
    out.bytes = rpc::encode_request(id, "tools/call", R"({"name":"choose","arguments":{"a":1}})");
    out.deadline = time_.steady_now() + seconds(4);
    caller_->call(std::move(out), [this](transport::link::CallOutcome outcome) {
      outcomes_.push_back(std::move(outcome));
    });
  }

  league::testing::FakeTime time_;
  testing::ScriptedConnector connector_;
  std::vector<std::string> methods_;
  json pending_;
  std::vector<transport::link::CallOutcome> outcomes_;
  std::unique_ptr<SessionCaller> caller_;  // the last one: it answers open calls when it ends
};

TEST_F(SessionCallerTest, OneSessionForManyCallsEachWithItsOwnId) {
  call(rpc::Id(std::string("first")));
  call(rpc::Id(1));
  call(rpc::Id(1));
  ASSERT_EQ(outcomes_.size(), 3U);
  EXPECT_EQ(json::parse(outcomes_[0].bytes),
            (json{{"jsonrpc", "2.0"}, {"id", "first"}, {"result", {{"said", {{"a", 1}}}}}}));
  EXPECT_EQ(json::parse(outcomes_[2].bytes)["id"], 1);
  EXPECT_EQ(connector_.connections.size(), 1U);
  EXPECT_EQ(caller_->sessions(), 1U);
}

TEST_F(SessionCallerTest, AServerMayBeSilentAsLongAsTheSettingSays) {
  caller_ = std::make_unique<SessionCaller>(
      SessionTools{connector_, time_, time_},
      SessionCallerOptions{.longest_probe = std::chrono::milliseconds(100)});
  connector_.script = [this](ScriptedConnection&, const json& message, const Headers&) {
    methods_.push_back(message.value("method", "response"));
  };
  call(rpc::Id(1));
  time_.advance(std::chrono::milliseconds(99));
  EXPECT_EQ(methods_, std::vector<std::string>{"server/discover"});
  time_.advance(std::chrono::milliseconds(1));
  EXPECT_EQ(methods_, (std::vector<std::string>{"server/discover", "initialize"}));
}

TEST_F(SessionCallerTest, CallsWaitForTheSession) {
  connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
    std::string method = message.value("method", "");
    if (method == "initialize") return pending_ = message, void();
    if (!answer_handshake(server, message)) server.result(message, json::object());
  };
  call(rpc::Id(1));
  call(rpc::Id(2));
  EXPECT_TRUE(outcomes_.empty());
  answer_handshake(*connector_.connections.front(), pending_);
  EXPECT_EQ(outcomes_.size(), 2U);
}

TEST_F(SessionCallerTest, ALostSessionIsMadeAgainWithoutTheProbe) {
  call(rpc::Id(1));
  connector_.connections.front()->end({ErrorCode::kConnectionError, "killed", ""});
  methods_.clear();
  call(rpc::Id(2));
  ASSERT_EQ(outcomes_.size(), 2U);
  EXPECT_FALSE(outcomes_[1].error);
  EXPECT_EQ(methods_.front(), "initialize");
  EXPECT_EQ(connector_.connections.size(), 2U);
}

TEST_F(SessionCallerTest, WhoIsNoMcpServerIsLeftAloneForAWhile) {
  auto endpoint = *transport::link::parse_endpoint("stdio:bot");
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    server.error(message, -32601);
  };
  call(rpc::Id(1));
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, ErrorCode::kInvalidReply);
  EXPECT_TRUE(caller_->refusals()(endpoint));
  call(rpc::Id(2));
  EXPECT_EQ(connector_.connections.size(), 1U);
  time_.advance(seconds(31));
  call(rpc::Id(3));
  EXPECT_EQ(connector_.connections.size(), 2U);
  EXPECT_EQ(outcomes_.size(), 3U);
}

TEST_F(SessionCallerTest, SilenceTakesHalfOfTheTime) {
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};
  call(rpc::Id(1), "tcp://127.0.0.1:1");
  time_.advance(seconds(2));
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, ErrorCode::kTimeout);
  EXPECT_TRUE(caller_->refusals()(*transport::link::parse_endpoint("tcp://127.0.0.1:1")));
}

TEST_F(SessionCallerTest, AChildMayTakeLongerToComeUpThanItsFirstCalls) {
  ScriptedConnection* child = nullptr;
  json initialize;
  bool is_up = false;
  auto answers = connector_.script;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers& headers) {
    child = &server;
    if (is_up) return answers(server, message, headers);
    if (message["method"] == "initialize") initialize = message;
  };
  call(rpc::Id(1));
  time_.advance(seconds(3));
  EXPECT_TRUE(outcomes_.empty());
  time_.advance(seconds(1));
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_EQ(outcomes_[0].error->code, ErrorCode::kTimeout);
  EXPECT_FALSE(caller_->refusals()(*transport::link::parse_endpoint("stdio:bot")));
  call(rpc::Id(2));
  time_.advance(seconds(2));
  is_up = true;
  answers(*child, initialize, {});
  ASSERT_EQ(outcomes_.size(), 2U);
  EXPECT_FALSE(outcomes_[1].error);
  EXPECT_EQ(connector_.connections.size(), 1U) << "it was not begun again";
  time_.advance(seconds(5));
  EXPECT_EQ(outcomes_.size(), 2U) << "each call ends once";
}

TEST_F(SessionCallerTest, AChildThatStaysSilentIsNoMcpServer) {
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};
  call(rpc::Id(1));
  time_.advance(seconds(12));
  EXPECT_EQ(outcomes_.size(), 1U);
  EXPECT_TRUE(caller_->refusals()(*transport::link::parse_endpoint("stdio:bot")));
}

TEST_F(SessionCallerTest, WhoCannotBeReachedIsTriedAgain) {
  connector_.failure = core::Error{ErrorCode::kConnectionError, "nobody", ""};
  call(rpc::Id(1));
  EXPECT_EQ(outcomes_.at(0).error->code, ErrorCode::kConnectionError);
  EXPECT_FALSE(caller_->refusals()(*transport::link::parse_endpoint("stdio:bot")));
  connector_.failure.reset();
  call(rpc::Id(2));
  EXPECT_FALSE(outcomes_.at(1).error);
}

TEST_F(SessionCallerTest, TheEndEndsAllCalls) {
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};
  call(rpc::Id(1), "tcp://127.0.0.1:1");
  call(rpc::Id(2), "tcp://127.0.0.1:2");
  caller_ = nullptr;
  ASSERT_EQ(outcomes_.size(), 2U);
  for (const auto& outcome : outcomes_) EXPECT_EQ(outcome.error->code, ErrorCode::kShuttingDown);
  time_.advance(seconds(60));
}

TEST_F(SessionCallerTest, KeepsNoMoreSessionsThanItMay) {
  caller_ = std::make_unique<SessionCaller>(SessionTools{connector_, time_, time_},
                                            SessionCallerOptions{.max_sessions = 2});
  for (int port = 1; port <= 5; ++port) {
    call(rpc::Id(port), "tcp://127.0.0.1:" + std::to_string(port));
    time_.advance(seconds(1));
  }
  EXPECT_EQ(outcomes_.size(), 5U);
  EXPECT_EQ(caller_->sessions(), 2U);
  EXPECT_TRUE(connector_.connections[0]->is_closed);
  EXPECT_FALSE(connector_.connections[4]->is_closed);
}

TEST_F(SessionCallerTest, ClosesNoSessionThatHasACall) {
  caller_ = std::make_unique<SessionCaller>(SessionTools{connector_, time_, time_},
                                            SessionCallerOptions{.max_sessions = 1});
  connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
    if (!answer_handshake(server, message)) pending_ = message;
  };
  call(rpc::Id(1), "tcp://127.0.0.1:1");
  const json first = pending_;
  call(rpc::Id(2), "tcp://127.0.0.1:2");
  EXPECT_FALSE(connector_.connections[0]->is_closed);
  EXPECT_EQ(caller_->sessions(), 2U);
  connector_.connections[0]->result(first, json::object());
  ASSERT_EQ(outcomes_.size(), 1U);
  EXPECT_FALSE(outcomes_[0].error);
  call(rpc::Id(3), "tcp://127.0.0.1:3");
  EXPECT_TRUE(connector_.connections[0]->is_closed);
  EXPECT_FALSE(connector_.connections[1]->is_closed);
  EXPECT_EQ(caller_->sessions(), 2U);
}

TEST_F(SessionCallerTest, ReturnsToItsLimitOnceCallsHaveEnded) {
  caller_ = std::make_unique<SessionCaller>(SessionTools{connector_, time_, time_},
                                            SessionCallerOptions{.max_sessions = 1});
  std::vector<json> asked;
  connector_.script = [&asked](ScriptedConnection& server, const json& message, const Headers&) {
    if (!answer_handshake(server, message)) asked.push_back(message);
  };
  for (int port = 1; port <= 3; ++port)
    call(rpc::Id(port), "tcp://127.0.0.1:" + std::to_string(port));
  EXPECT_EQ(caller_->sessions(), 3U);
  ASSERT_EQ(asked.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) connector_.connections[i]->result(asked[i], json::object());
  call(rpc::Id(4), "tcp://127.0.0.1:4");
  EXPECT_EQ(caller_->sessions(), 1U);
  caller_ = nullptr;
}

}  // namespace
}  // namespace league::mcp::client
