#include "common/mcp/client/client_session.h"

#include <gtest/gtest.h>

#include "common/mcp/client/client_calls.h"
#include "common/mcp/client/client_session_testing.h"

namespace league::mcp::client {
namespace {

using core::ErrorCode;
using nlohmann::json;
using std::chrono::seconds;
using testing::answer_handshake;
using testing::ClientSessionTest;
using testing::ScriptedConnection;

TEST_F(ClientSessionTest, ShakesHandsThenAsks) {
  serve_echo();
  auto open = session();
  ASSERT_TRUE(connected_ && *connected_);
  EXPECT_EQ((*connected_)->server_name, "scripted");
  EXPECT_EQ((*connected_)->transport, rpc::TransportType::kMemory);
  EXPECT_EQ(ask(*open, "tools/list").response.result["method"], "tools/list");
  EXPECT_EQ(methods(), (std::vector<std::string>{"server/discover", "initialize",
                                                 "notifications/initialized", "tools/list"}));
  open->close();
  EXPECT_TRUE(connector_.connections.front()->is_closed);
  EXPECT_EQ(ask(*open, "tools/list").error->code, ErrorCode::kConnectionError);
}

TEST_F(ClientSessionTest, SpeaksTheModernDialectWhereTheServerDoes) {
  connector_.script = [this](ScriptedConnection& server, const json& message,
                             const Headers& headers) {
    seen_.push_back(message);
    seen_headers_.push_back(headers);
    if (message["method"] == "server/discover")
      return server.result(
          message, {{"supportedVersions", {"2026-07-28"}}, {"capabilities", json::object()}});
    server.result(message, json::object());
  };
  auto open = session("http://127.0.0.1:9/mcp");
  ASSERT_TRUE(connected_ && *connected_);
  EXPECT_TRUE((*connected_)->is_modern);
  EXPECT_FALSE(ask(*open, "tools/list").error);
  EXPECT_TRUE(seen_.back()["params"]["_meta"].contains(std::string(kVersionKey)));
  EXPECT_EQ(methods(), (std::vector<std::string>{"server/discover", "tools/list"}));
}

TEST_F(ClientSessionTest, FallsBackToTheTransportOf2024) {
  connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
    seen_.push_back(message);
    if (server.endpoint.scheme == "http") return server.refuse(405);
    if (!answer_handshake(server, message, "2024-11-05")) server.result(message, json::object());
  };
  auto open = session("http://127.0.0.1:9/sse", {.may_fall_back_to_sse = true});
  ASSERT_TRUE(connected_ && *connected_) << connected_->error().message;
  EXPECT_EQ(open->endpoint().url(), "sse+http://127.0.0.1:9/sse");
  EXPECT_EQ((*connected_)->revision, "2024-11-05");
  ASSERT_EQ(connector_.connections.size(), 2U);
  EXPECT_TRUE(connector_.connections.front()->is_closed);
  EXPECT_FALSE(ask(*open, "tools/list").error);
}

TEST_F(ClientSessionTest, ASilentProbeTakesAPartOfTheTimeOnly) {
  connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
    seen_.push_back(message);
    if (message["method"] != "server/discover") answer_handshake(server, message);
  };
  auto open = session();
  EXPECT_FALSE(connected_);
  time_.advance(std::chrono::milliseconds(2000));
  ASSERT_TRUE(connected_ && *connected_);
  EXPECT_TRUE(open->is_ready());
}

TEST_F(ClientSessionTest, AServerThatSaysNothingEndsWithTheDeadline) {
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};
  auto open = session();
  time_.advance(seconds(10));
  ASSERT_TRUE(connected_);
  EXPECT_EQ(connected_->error().code, ErrorCode::kTimeout);
  EXPECT_TRUE(connector_.connections.front()->is_closed);
}

TEST_F(ClientSessionTest, AChildThatDiesAtTheProbeIsBegunAgain) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (message["method"] == "server/discover")
      return server.end({ErrorCode::kConnectionError, "the child ended with code 1", ""});
    answer_handshake(server, message);
  };
  auto open = session("stdio:bot");
  ASSERT_TRUE(connected_ && *connected_);
  EXPECT_EQ(connector_.connections.size(), 2U);
}

TEST_F(ClientSessionTest, TheSessionOfAnAnswerThatCameAsAnEventCounts) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    server.context.session = rpc::SessionId("of-the-head");
    answer_handshake(server, message);
  };
  auto open = session("http://127.0.0.1:9/mcp");
  ASSERT_TRUE(connected_ && *connected_);
  EXPECT_EQ((*connected_)->session_id, "of-the-head");
}

TEST_F(ClientSessionTest, RequestsThatTakeTooLongAreCancelled) {
  connector_.script = [this](ScriptedConnection& server, const json& message, const Headers&) {
    seen_.push_back(message);
    answer_handshake(server, message);
  };
  auto open = session();
  std::optional<SessionAnswer> got;
  const auto take = [&](SessionAnswer answer) { got = std::move(answer); };
  request(open, {.method = "tools/call", .params = "{}", .deadline = deadline(seconds(1))}, take);
  json id = seen_.back()["id"];
  time_.advance(seconds(1));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->error->code, ErrorCode::kTimeout);
  EXPECT_EQ(seen_.back()["method"], "notifications/cancelled");
  EXPECT_EQ(seen_.back()["params"]["requestId"], id);
  got.reset();
  const auto call = request(
      open, {.method = "tools/call", .deadline = deadline(), .cancel_reason = "nobody waits"},
      take);
  id = seen_.back()["id"];
  call.cancel();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->error->code, ErrorCode::kShuttingDown);
  EXPECT_EQ(seen_.back()["params"], (json{{"requestId", id}, {"reason", "nobody waits"}}));
}

TEST_F(ClientSessionTest, AnswersTheServersPingsAndRefusesItsRequests) {
  serve_echo();
  std::vector<std::string> news;
  SessionOptions options;
  options.on_notification = [&](const rpc::Notification& one, const rpc::MessageContext&) {
    news.push_back(one.method);
  };
  auto open = session("tcp://127.0.0.1:9", std::move(options));
  auto& server = *connector_.connections.front();
  server.say({{"jsonrpc", "2.0"}, {"id", "p"}, {"method", "ping"}});
  EXPECT_EQ(seen_.back(), (json{{"jsonrpc", "2.0"}, {"id", "p"}, {"result", json::object()}}));
  server.say({{"jsonrpc", "2.0"},
              {"id", 4},
              {"method", "sampling/createMessage"},
              {"params", json::object()}});
  EXPECT_EQ(seen_.back()["error"]["code"], -32601);
  EXPECT_EQ(seen_.back()["id"], 4);
  server.say(
      {{"jsonrpc", "2.0"}, {"method", "notifications/message"}, {"params", {{"data", "x"}}}});
  server.say(json("nonsense"));
  server.say({{"jsonrpc", "2.0"}, {"id", 999}, {"result", json::object()}});
  EXPECT_EQ(news, std::vector<std::string>{"notifications/message"});
  EXPECT_TRUE(open->is_ready());
}

TEST_F(ClientSessionTest, ProgressGoesToItsRequest) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (answer_handshake(server, message)) return;
    json token = message["params"]["_meta"]["progressToken"];
    server.say({{"jsonrpc", "2.0"},
                {"method", "notifications/progress"},
                {"params", {{"progressToken", token}, {"progress", 1}}}});
    server.say({{"jsonrpc", "2.0"},
                {"method", "notifications/progress"},
                {"params", {{"progressToken", 12345}, {"progress", 2}}}});
    server.result(message, json::object());
  };
  auto open = session();
  std::vector<json> progress;
  (void)now(call_tool(
      open.get(), {.name = "slow", .deadline = deadline(), .on_progress = [&](const json& params) {
                     progress.push_back(params["progress"]);
                   }}));
  EXPECT_EQ(progress, std::vector<json>{1});
}

TEST_F(ClientSessionTest, WhatIsPendingFailsWithTheConnection) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    answer_handshake(server, message);
  };
  std::optional<core::Error> lost;
  SessionOptions options;
  options.on_closed = [&](const core::Error& why) { lost = why; };
  auto open = session("stdio:bot", std::move(options));
  std::vector<ErrorCode> codes;
  for (int i = 0; i < 3; ++i) {
    request(open, {.method = "tools/list", .deadline = deadline()},
            [&](SessionAnswer answer) { codes.push_back(answer.error->code); });
  }
  connector_.connections.front()->end({ErrorCode::kConnectionError, "the child was killed", ""});
  EXPECT_EQ(codes, std::vector<ErrorCode>(3, ErrorCode::kConnectionError));
  ASSERT_TRUE(lost);
  EXPECT_FALSE(open->is_ready());
}

TEST_F(ClientSessionTest, ListsAllPagesOfToolsButNotForEver) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (answer_handshake(server, message)) return;
    std::string cursor = message["params"].value("cursor", "0");
    int page = std::stoi(cursor);
    json result = {{"tools", {{{"name", "t" + cursor}}}}};
    if (page < 3 || page >= 10) result["nextCursor"] = std::to_string(page + 1);
    server.result(message, result);
  };
  auto open = session();
  const auto tools = now(list_tools(open.get(), deadline()));
  ASSERT_TRUE(tools);
  ASSERT_EQ(tools->size(), 4U);
  EXPECT_EQ((*tools)[3]["name"], "t3");
  EXPECT_EQ(now(list_tools(open.get(), deadline(), {.max_pages = 2})).error().code,
            ErrorCode::kReplyTooLarge);
}

TEST_F(ClientSessionTest, NobodyThere) {
  connector_.failure = core::Error{ErrorCode::kConnectionError, "refused", ""};
  auto open = session("http://127.0.0.1:9/mcp");
  ASSERT_TRUE(connected_);
  EXPECT_EQ(connected_->error().message, "refused");
  EXPECT_EQ(ask(*open, "ping").error->code, ErrorCode::kConnectionError);
}

TEST_F(ClientSessionTest, ClosedBeforeItIsThere) {
  connector_.script = [](ScriptedConnection&, const json&, const Headers&) {};
  auto open = session();
  open->close();
  ASSERT_TRUE(connected_);
  EXPECT_EQ(connected_->error().code, ErrorCode::kShuttingDown);
  open = nullptr;
  time_.advance(seconds(60));
}

}  // namespace
}  // namespace league::mcp::client
