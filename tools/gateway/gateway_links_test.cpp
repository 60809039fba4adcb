#include "tools/gateway/gateway_links.h"

#include <gtest/gtest.h>

#include "common/mcp/client/client_testing.h"
#include "tests/support/fake_clock.h"

namespace league::tools::gateway {
namespace {

using mcp::client::Headers;
using mcp::client::testing::answer_handshake;
using mcp::client::testing::ScriptedConnection;
using nlohmann::json;
using std::chrono::seconds;

class NoLog final : public audit::record::RecordSink {
 public:
  void append(audit::record::Record /*record*/) override {}
};

class HeardChannel final : public transport::link::PeerChannel {
 public:
  bool push(std::shared_ptr<const std::string> bytes) override {
    heard.push_back(json::parse(*bytes));
    return true;
  }
  void close() override {}
  [[nodiscard]] bool is_open() const override { return true; }
  [[nodiscard]] const std::string& id() const override { return id_; }
  std::vector<json> heard;

 private:
  std::string id_ = "heard";
};

class GatewayLinksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
      seen_.emplace_back(&server, message);
      if (answer_handshake(server, message) || !message.contains("id")) return;
      if (message.contains("method")) server.result(message, json::object());
    };
  }
  GatewayLinks& links(const std::string& endpoint = "http://127.0.0.1:9/mcp",
                      std::size_t most_own = 1000) {
    GatewayLinksOptions options;
    options.shared.endpoint = *transport::link::parse_endpoint(endpoint);
    options.most_own = most_own;
    links_ = std::make_unique<GatewayLinks>(mcp::client::SessionTools{connector_, time_, time_},
                                            log_, std::move(options));
    return *links_;
  }
  bool begin(const std::string& owner, const json& capabilities = json::object()) {
    GatewayClient client;
    client.owner = owner;
    client.capabilities = capabilities;
    client.on_notification = [this, owner](const rpc::Notification& note) {
      told_.push_back(owner + " " + note.method);
    };
    client.on_request = [this, owner](rpc::Request request, mcp::client::AnswerServer answer) {
      told_.push_back(owner + " " + request.method);
      answer(rpc::make_result(rpc::Id(99), {{"from", owner}}));
    };
    client.on_forgotten = [this, owner] { told_.push_back(owner + " forgotten"); };
    return static_cast<bool>(links_->begin(std::move(client)));
  }
  GatewayBackend::Cancel call(const std::string& owner, const std::string& method = "tools/call") {
    GatewayCall call;
    call.request = rpc::make_request(rpc::Id(1), method, {{"name", "t"}});
    call.owner = owner;
    call.deadline = time_.steady_now() + seconds(30);
    call.context = rpc::MessageContext::now(time_);
    return links_->forward(std::move(call),
                           [this](GatewayAnswer answer) { answers_.push_back(std::move(answer)); });
  }
  /// The connection by which the last request of this method came.
  ScriptedConnection* last(const std::string& method) {
    for (auto it = seen_.rbegin(); it != seen_.rend(); ++it) {
      if (it->second.value("method", "") == method) return it->first;
    }
    return nullptr;
  }
  json last_message(const std::string& method) {
    for (auto it = seen_.rbegin(); it != seen_.rend(); ++it) {
      if (it->second.value("method", "") == method) return it->second;
    }
    return nullptr;
  }

  league::testing::FakeTime time_;
  mcp::client::testing::ScriptedConnector connector_;
  NoLog log_;
  std::vector<std::pair<ScriptedConnection*, json>> seen_;
  std::vector<std::string> told_;
  std::vector<GatewayAnswer> answers_;
  std::unique_ptr<GatewayLinks> links_;
};

TEST_F(GatewayLinksTest, EachClientOfAnHttpServerHasASession) {
  links();
  ASSERT_TRUE(begin("a") && begin("b"));
  (void)call("a");
  auto* of_a = last("tools/call");
  (void)call("b");
  auto* of_b = last("tools/call");
  (void)call("");
  auto* shared = last("tools/call");
  EXPECT_NE(of_a, of_b);
  EXPECT_NE(of_a, shared);
  EXPECT_NE(of_b, shared);
  (void)call("a");
  EXPECT_EQ(last("tools/call"), of_a);
  (void)call("nobody");
  EXPECT_EQ(last("tools/call"), shared) << "who has not shaken hands has no session";
  EXPECT_EQ(answers_.size(), 5U);
}

TEST_F(GatewayLinksTest, ChildrenAreSharedUntilAnAnswerDependsOnTheClient) {
  links("stdio:python3 server.py");
  ASSERT_TRUE(begin("plain"));
  ASSERT_TRUE(begin("asked", {{"elicitation", json::object()}, {"experimental", {{"x", 1}}}}));
  (void)call("plain");
  auto* shared = last("tools/call");
  EXPECT_EQ(links_->own(), 1U);
  (void)call("asked");
  EXPECT_NE(last("tools/call"), shared);
  EXPECT_EQ(last_message("initialize")["params"]["capabilities"],
            (json{{"elicitation", json::object()}}))
      << "what the gateway does not pass on is not announced";
  (void)call("plain", "logging/setLevel");
  EXPECT_NE(last("logging/setLevel"), shared);
  (void)call("plain");
  EXPECT_EQ(last("tools/call"), last("logging/setLevel")) << "from then on";
}

TEST_F(GatewayLinksTest, WhatABackendSaysGoesToTheRightClients) {
  links("stdio:python3 server.py");
  ASSERT_TRUE(begin("a") && begin("b") && begin("own", {{"roots", json::object()}}));
  (void)call("a");
  auto* shared = last("tools/call");
  (void)call("own");
  auto* own = last("tools/call");
  const json news = {{"jsonrpc", "2.0"}, {"method", "notifications/tools/list_changed"}};
  shared->say(news);
  EXPECT_EQ(told_, (std::vector<std::string>{"a notifications/tools/list_changed",
                                             "b notifications/tools/list_changed"}));
  told_.clear();
  own->say(news);
  own->say({{"jsonrpc", "2.0"}, {"id", "q1"}, {"method", "roots/list"}});
  EXPECT_EQ(told_,
            (std::vector<std::string>{"own notifications/tools/list_changed", "own roots/list"}));
  EXPECT_EQ(seen_.back().second["id"], "q1") << "answered under the backend's own id";
  EXPECT_EQ(seen_.back().second["result"]["from"], "own");
  shared->say({{"jsonrpc", "2.0"}, {"id", "q2"}, {"method", "roots/list"}});
  EXPECT_EQ(seen_.back().second["error"]["code"], -32601) << "there is nobody whom it could mean";
}

TEST_F(GatewayLinksTest, WhatAClientHasSetSurvivesItsSession) {
  links("stdio:python3 server.py");
  ASSERT_TRUE(begin("a", {{"roots", json::object()}}));
  auto set = [&](const std::string& method, json params) {
    GatewayCall call;
    call.request = rpc::make_request(rpc::Id(1), method, std::move(params));
    call.owner = "a";
    call.deadline = time_.steady_now() + seconds(30);
    call.context = rpc::MessageContext::now(time_);
    (void)links_->forward(std::move(call), [](const GatewayAnswer&) {});
  };
  set("logging/setLevel", {{"level", "debug"}, {"_meta", {{"progressToken", 1}}}});
  set("resources/subscribe", {{"uri", "x://1"}});
  set("resources/subscribe", {{"uri", "x://2"}});
  set("resources/unsubscribe", {{"uri", "x://1"}});
  set("resources/subscribe", {{"uri", 7}});
  seen_.clear();
  connector_.connections.back()->end({core::ErrorCode::kConnectionError, "killed", ""});
  (void)call("a");
  time_.advance(seconds(1));
  std::vector<std::string> methods;
  for (const auto& [server, message] : seen_) methods.push_back(message.value("method", ""));
  EXPECT_EQ(methods,
            (std::vector<std::string>{"initialize", "notifications/initialized", "logging/setLevel",
                                      "resources/subscribe", "tools/call"}));
  EXPECT_EQ(last_message("logging/setLevel")["params"], (json{{"level", "debug"}}));
  EXPECT_EQ(last_message("resources/subscribe")["params"], (json{{"uri", "x://2"}}));
}

TEST_F(GatewayLinksTest, ClientsThatAreBusyOrFreshKeepTheirSessions) {
  links("http://127.0.0.1:9/mcp", 2);
  ASSERT_TRUE(begin("a") && begin("b"));
  EXPECT_FALSE(begin("flood"));
  EXPECT_EQ(links_->own(), 2U);
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    (void)answer_handshake(server, message);  // and leaves calls unanswered
  };
  auto cancel = call("a");
  time_.advance(seconds(1));
  (void)call("b");
  time_.advance(seconds(100));  // both calls are over their time
  ASSERT_TRUE(begin("c"));
  EXPECT_EQ(told_, std::vector<std::string>{"a forgotten"}) << "the one that has rested longest";
  links_->end("b");
  links_->end("b");
  EXPECT_EQ(links_->own(), 1U);
}

TEST_F(GatewayLinksTest, CancelledCallsHoldNoSession) {
  links("http://127.0.0.1:9/mcp", 1);
  ASSERT_TRUE(begin("a"));
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};  // silent
  auto cancel = call("a");
  cancel();
  links_->end("nobody");
  time_.advance(seconds(100));
  EXPECT_TRUE(begin("b"));
}

TEST_F(GatewayLinksTest, WhoShakesHandsAgainBeginsAnew) {
  links();
  ASSERT_TRUE(begin("a"));
  (void)call("a");
  auto* first = last("tools/call");
  ASSERT_TRUE(begin("a"));
  EXPECT_EQ(links_->own(), 1U);
  (void)call("a");
  EXPECT_NE(last("tools/call"), first);
  EXPECT_TRUE(first->is_closed);
}

TEST_F(GatewayLinksTest, SubscriptionsCarryTheClientsId) {
  json listening;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    seen_.emplace_back(&server, message);
    if (message["method"] == "server/discover")
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
    if (message.value("method", "") == "subscriptions/listen") listening = message;
  };
  links("stdio:python3 server.py");
  auto listen = [&](const rpc::Id& id, const std::shared_ptr<HeardChannel>& channel) {
    GatewayCall call;
    call.request = rpc::make_request(id, "subscriptions/listen",
                                     {{"notifications", {{"toolsListChanged", true}}}});
    call.is_modern = true;
    call.deadline = time_.steady_now() + seconds(30);
    call.context = rpc::MessageContext::now(time_);
    call.channel = channel;
    return links_->forward(std::move(call),
                           [this](GatewayAnswer answer) { answers_.push_back(std::move(answer)); });
  };
  auto first = std::make_shared<HeardChannel>();
  auto second = std::make_shared<HeardChannel>();
  auto cancel = listen(rpc::Id(std::string("mine")), first);
  const json id_of_first = listening["id"];
  (void)listen(rpc::Id(4711), second);
  auto news = [](const json& id) {
    return json{{"jsonrpc", "2.0"},
                {"method", "notifications/tools/list_changed"},
                {"params", {{"_meta", {{"io.modelcontextprotocol/subscriptionId", id}}}}}};
  };
  auto* server = last("subscriptions/listen");
  time_.advance(seconds(1000));
  server->say(news(id_of_first));
  server->say(news(listening["id"]));
  server->say(news(123456));
  server->say(news("text"));
  const json::json_pointer tag("/params/_meta/io.modelcontextprotocol~1subscriptionId");
  ASSERT_EQ(first->heard.size(), 1U);
  EXPECT_EQ(first->heard[0][tag], "mine");
  ASSERT_EQ(second->heard.size(), 1U);
  EXPECT_EQ(second->heard[0][tag], 4711);
  cancel();
  server->say(news(id_of_first));
  EXPECT_EQ(first->heard.size(), 1U);
  EXPECT_EQ(last_message("notifications/cancelled")["params"]["requestId"], id_of_first);
  server->result(listening, {{"_meta", {{"io.modelcontextprotocol/subscriptionId", 5}}}});
  EXPECT_EQ(answers_.back().response.id, rpc::Id(4711));
  EXPECT_EQ(answers_.back().response.result["_meta"]["io.modelcontextprotocol/subscriptionId"],
            4711);
}

TEST_F(GatewayLinksTest, AnOlderBackendHasNoSubscriptions) {
  links("stdio:python3 server.py");
  (void)call("", "subscriptions/listen");
  ASSERT_EQ(answers_.size(), 1U);
  EXPECT_EQ(answers_[0].response.error->code, -32601);
  EXPECT_EQ(answers_[0].http_status, 404);
}

}  // namespace
}  // namespace league::tools::gateway
