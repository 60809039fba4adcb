#include "tools/gateway/gateway_link.h"

#include <gtest/gtest.h>

#include "common/mcp/client/client_testing.h"
#include "tests/support/fake_clock.h"

namespace league::tools::gateway {
namespace {

using core::ErrorCode;
using mcp::client::Headers;
using mcp::client::testing::answer_handshake;
using mcp::client::testing::ScriptedConnection;
using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

class FaultRecorder final : public audit::record::RecordSink {
 public:
  void append(audit::record::Record record) override { text += record.notes.fault + "\n"; }
  std::string text;
};

class GatewayLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
      if (answer_handshake(server, message)) return;
      server.result(message, {{"method", message["method"]}});
    };
  }
  GatewayLink& link(const std::string& endpoint = "tcp://127.0.0.1:9") {
    GatewayLinkOptions options;
    options.endpoint = *transport::link::parse_endpoint(endpoint);
    options.on_change = [this](const std::string& what) { said_ += what + "\n"; };
    link_ = std::make_unique<GatewayLink>(mcp::client::SessionTools{connector_, time_, time_},
                                          scope_, log_, std::move(options));
    return *link_;
  }
  GatewayBackend::Cancel call(const std::string& method = "tools/call",
                              seconds patience = seconds(30)) {
    GatewayCall call;
    call.request.id = rpc::Id(std::string("mine"));
    call.request.method = method;
    call.request.params = {{"name", "t"}, {"arguments", json::object()}};
    call.deadline = time_.steady_now() + patience;
    call.context = rpc::MessageContext::now(time_);
    return link_->forward(std::move(call),
                          [this](GatewayAnswer answer) { answers_.push_back(std::move(answer)); });
  }
  json describe(bool is_modern_client = false) {
    GatewayCall call;
    call.request.id = rpc::Id(1);
    call.deadline = time_.steady_now() + seconds(30);
    call.is_modern = is_modern_client;
    json result;
    link_->describe(call, [&](GatewayAnswer answer) { result = answer.response.result; });
    return result;
  }

  league::testing::FakeTime time_;
  mcp::client::testing::ScriptedConnector connector_;
  FaultRecorder log_;
  std::string said_;
  std::vector<GatewayAnswer> answers_;
  task::Scope scope_{task::Executor(), [](const std::exception_ptr&) { ADD_FAILURE() << "threw"; }};
  std::unique_ptr<GatewayLink> link_;
};

TEST_F(GatewayLinkTest, CallsWaitForABackendThatWasLost) {
  link();
  (void)call();
  ASSERT_EQ(answers_.size(), 1U);
  connector_.connections.back()->end({ErrorCode::kConnectionError, "killed", ""});
  (void)call();
  (void)call("tools/call", seconds(0));
  ASSERT_EQ(answers_.size(), 2U) << "who cannot wait is told at once";
  EXPECT_TRUE(answers_[1].response.error);
  time_.advance(milliseconds(200));
  ASSERT_EQ(answers_.size(), 3U);
  EXPECT_FALSE(answers_[2].response.error);
  EXPECT_EQ(connector_.connections.size(), 2U);
}

TEST_F(GatewayLinkTest, ABackendThatAlwaysDiesIsNotBegunForEachCall) {
  link();
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (!answer_handshake(server, message))
      server.end({ErrorCode::kConnectionError, "it died", ""});
  };
  for (int i = 0; i < 100; ++i) (void)call();
  time_.advance(seconds(10));
  EXPECT_LE(connector_.connections.size(), 10U);
}

TEST_F(GatewayLinkTest, CallsThatAreCancelledWhileTheyWaitAreNotSent) {
  link();
  (void)call();
  connector_.connections.back()->end({ErrorCode::kConnectionError, "killed", ""});
  auto cancel = call();
  cancel();
  time_.advance(seconds(1));
  EXPECT_EQ(answers_.size(), 1U);
}

TEST_F(GatewayLinkTest, CommandLinesAreTheOperators) {
  const std::string command = "python3 /srv/bot.py --key 4711";
  for (const auto& why : {"the command \"" + command + "\" ended with exit code 1",
                          "call of stdio:" + command + " failed", command + ": not found"}) {
    connector_.failure = core::Error{ErrorCode::kConnectionError, why, ""};
    link("stdio:" + command);
    (void)call();
    ASSERT_TRUE(answers_.back().response.error);
    EXPECT_EQ(answers_.back().response.error->message.find("4711"), std::string::npos)
        << answers_.back().response.error->message;
  }
  EXPECT_EQ((said_ + log_.text).find("4711"), std::string::npos) << said_;
}

TEST_F(GatewayLinkTest, AChallengeReachesTheClient) {
  auto refuse = [](ScriptedConnection& server) {
    rpc::HeaderMap head{{"www-authenticate", "Bearer resource_metadata=\"x\""}};
    server.refuse(401);
    server.refuse_with(std::move(head));
  };
  bool denies_all = true;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    if (denies_all) return refuse(server);
    if (!answer_handshake(server, message)) refuse(server);
  };
  link("http://127.0.0.1:9/mcp");
  (void)call();  // the backend denies the session
  denies_all = false;
  time_.advance(seconds(1));
  (void)call();  // and the call
  ASSERT_EQ(answers_.size(), 2U);
  for (const auto& answer : answers_) {
    EXPECT_EQ(answer.http_status, 401);
    ASSERT_EQ(answer.headers.size(), 1U);
    EXPECT_EQ(answer.headers[0].first, "WWW-Authenticate");
    EXPECT_EQ(answer.response.error->data["www_authenticate"], answer.headers[0].second);
  }
}

TEST_F(GatewayLinkTest, ARefusalReachesTheClientWithItsPatience) {
  for (int status : {403, 429, 503}) {
    GatewayAnswer answer(rpc::make_error(rpc::Id(1), rpc::StandardCode::kInternalError));
    const rpc::HeaderMap head{{"retry-after", "7"}};
    pass_on_refusal(status, &head, answer);
    EXPECT_EQ(answer.http_status, status);
    EXPECT_EQ(answer.response.error->data["http_status"], status);
    EXPECT_EQ(answer.response.error->data["retry_after"], "7");
    ASSERT_EQ(answer.headers.size(), 1U);
    EXPECT_EQ(answer.headers[0].second, "7");
  }
  GatewayAnswer other(rpc::make_error(rpc::Id(1), rpc::StandardCode::kInternalError));
  pass_on_refusal(500, nullptr, other);
  EXPECT_EQ(other.http_status, 200);
}

TEST_F(GatewayLinkTest, AToolThatWantsInputHasFailed) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (message["method"] == "server/discover")
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
    server.result(message, {{"resultType", "input_required"}, {"inputRequests", json::object()}});
  };
  link();
  (void)call();
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].response.result["isError"], true);
  EXPECT_NE(answers_[0].response.result["content"][0]["text"].get<std::string>().find("input"),
            std::string::npos);
  (void)call("prompts/get");
  EXPECT_EQ(answers_[1].response.error->code, -32603);
}

TEST_F(GatewayLinkTest, AnnouncesWhatItPassesOn) {
  const json all = {{"tools", {{"listChanged", true}}},
                    {"resources", {{"subscribe", true}, {"listChanged", true}}},
                    {"logging", json::object()},
                    {"tasks", json::object()}};
  bool is_modern = true;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    if (message["method"] == "server/discover" && is_modern)
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}, {"capabilities", all}});
    if (message["method"] == "initialize")
      return server.result(message, {{"protocolVersion", "2025-11-25"}, {"capabilities", all}});
    if (message.contains("id")) server.error(message, -32601);
  };
  link();
  EXPECT_EQ(describe()["capabilities"],
            (json{{"tools", json::object()}, {"resources", json::object()}}));
  json kept = all;
  kept.erase("tasks");
  EXPECT_EQ(describe(/*is_modern_client=*/true)["capabilities"], kept);
  is_modern = false;
  link();
  EXPECT_EQ(describe()["capabilities"], kept);
  EXPECT_EQ(describe(/*is_modern_client=*/true)["capabilities"],
            (json{{"tools", json::object()}, {"resources", json::object()}}));
}

}  // namespace
}  // namespace league::tools::gateway
