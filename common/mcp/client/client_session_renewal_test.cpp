#include <gtest/gtest.h>

#include <algorithm>

#include "common/mcp/client/client_calls.h"
#include "common/mcp/client/client_session.h"
#include "common/mcp/client/client_session_testing.h"

namespace league::mcp::client {
namespace {

using core::ErrorCode;
using nlohmann::json;
using std::chrono::seconds;
using testing::answer_handshake;
using testing::ClientSessionTest;
using testing::ScriptedConnection;

/// A server of HTTP with sessions `s1`, `s2`, …, that can be told to forget them.
class ServerWithSessions {
 public:
  explicit ServerWithSessions(testing::ScriptedConnector& connector) {
    connector.script = [this](ScriptedConnection& server, const json& message,
                              const Headers& headers) { answer(server, message, headers); };
  }

  int sessions = 0;
  int forgotten = 0;  ///< sessions up to this one are not known any more
  int status = 404;  ///< of the answer to those
  bool is_there = true;
  int shown = 0;  ///< requests that came with a session

 private:
  void answer(ScriptedConnection& server, const json& message, const Headers& headers) {
    if (!is_there) return server.fail({ErrorCode::kConnectionError, "connection refused", ""});
    std::string given;
    for (const auto& [name, value] : headers) {
      if (name == "Mcp-Session-Id") given = value;
    }
    if (message["method"] == "initialize") {
      rpc::HeaderMap head{{"mcp-session-id", "s" + std::to_string(++sessions)}};
      server.context.transport =
          rpc::TransportContext::http(std::make_shared<const rpc::HeaderMap>(std::move(head)),
                                      "POST", rpc::SharedText::literal("/mcp"));
    } else if (message["method"] == "tools/list") {
      ++shown;
      if (std::stoi(given.substr(1)) <= forgotten) return server.refuse(status);
    }
    if (!answer_handshake(server, message) && message.contains("id"))
      server.result(message, {{"session", given}});
  }
};

TEST_F(ClientSessionTest, ALostSessionIsMadeAgainOnceForARequest) {
  for (int status : {404, 400}) {
    connected_.reset();
    ServerWithSessions server(connector_);
    server.status = status;
    auto open = session("http://127.0.0.1:9/mcp");
    ASSERT_TRUE(connected_ && *connected_);
    EXPECT_EQ((*connected_)->session_id, "s1");
    server.forgotten = 1;
    auto answer = ask(*open, "tools/list");
    ASSERT_FALSE(answer.error) << answer.error->message;
    EXPECT_EQ(answer.response.result["session"], "s2");
    server.forgotten = 100;
    answer = ask(*open, "tools/list");
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.http_status, status);
    EXPECT_EQ(server.sessions, 3) << "once more, not for ever";
  }
}

TEST_F(ClientSessionTest, WhoHasSetSomethingIsToldOfARenewalFirst) {
  ServerWithSessions server(connector_);
  std::vector<std::string> order;
  std::shared_ptr<ClientSession> open;
  SessionOptions options;
  options.on_renewed = [&] {
    order.push_back("renewed");
    EXPECT_TRUE(open->is_ready()) << "it may ask now";
  };
  open = session("http://127.0.0.1:9/mcp", std::move(options));
  EXPECT_TRUE(order.empty()) << "the first agreement is none";
  server.forgotten = 1;
  request(open, {.method = "tools/list", .deadline = deadline()},
          [&](const SessionAnswer&) { order.push_back("answered"); });
  EXPECT_EQ(order, (std::vector<std::string>{"renewed", "answered"}));
}

TEST_F(ClientSessionTest, RequestsThatAreWrongDoNotCostAHandshakeEach) {
  ServerWithSessions server(connector_);
  server.status = 400;
  auto open = session("http://127.0.0.1:9/mcp");
  server.forgotten = 100;  // it refuses whatever is asked
  for (int i = 0; i < 50; ++i) EXPECT_EQ(ask(*open, "tools/list").http_status, 400);
  EXPECT_EQ(server.sessions, 2);
  time_.advance(seconds(10));
  server.forgotten = 2;  // and now it was started again
  EXPECT_FALSE(ask(*open, "tools/list").error);
  EXPECT_EQ(server.sessions, 3);
}

TEST_F(ClientSessionTest, AServerThatWasAwayMayHaveForgottenUs) {
  ServerWithSessions server(connector_);
  auto open = session("http://127.0.0.1:9/mcp");
  server.is_there = false;
  auto answer = ask(*open, "tools/list");
  ASSERT_TRUE(answer.error);
  EXPECT_EQ(answer.error->code, ErrorCode::kConnectionError);
  EXPECT_TRUE(open->is_ready());
  server.is_there = true;
  server.forgotten = 1;
  server.status = 500;  // what some say of a session that they do not know
  answer = ask(*open, "tools/list");
  ASSERT_FALSE(answer.error) << answer.error->message;
  EXPECT_EQ(answer.response.result["session"], "s2");
  EXPECT_EQ(server.shown, 1) << "it was not shown the old session";
  EXPECT_FALSE(ask(*open, "tools/list").error);
  EXPECT_EQ(server.sessions, 2);
}

TEST_F(ClientSessionTest, AServerThatStaysAwayEndsTheSession) {
  ServerWithSessions server(connector_);
  std::optional<core::Error> lost;
  SessionOptions options;
  options.on_closed = [&](const core::Error& why) { lost = why; };
  auto open = session("http://127.0.0.1:9/mcp", std::move(options));
  server.is_there = false;
  EXPECT_TRUE(ask(*open, "tools/list").error);
  EXPECT_FALSE(lost);
  EXPECT_EQ(ask(*open, "tools/list").error->code, ErrorCode::kConnectionError);
  ASSERT_TRUE(lost);
  EXPECT_FALSE(open->is_ready());
}

TEST_F(ClientSessionTest, ARequestOfAModernServerNeedsNoHandshakeAfterwards) {
  bool is_there = true;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    if (!is_there) return server.fail({ErrorCode::kConnectionError, "connection refused", ""});
    seen_.push_back(message);
    server.result(message, {{"supportedVersions", {"2026-07-28"}}, {"resultType", "complete"}});
  };
  auto open = session("http://127.0.0.1:9/mcp");
  is_there = false;
  EXPECT_TRUE(ask(*open, "tools/list").error);
  is_there = true;
  EXPECT_FALSE(ask(*open, "tools/list").error);
  EXPECT_EQ(methods(), (std::vector<std::string>{"server/discover", "tools/list"}));
}

TEST_F(ClientSessionTest, AModernServerThatComesUpSlowlyIsFound) {
  std::vector<json> unread;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    seen_.push_back(message);
    if (time_.steady_now() < start_ + seconds(4)) return unread.push_back(message);
    if (message["method"] == "server/discover")
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
    server.error(message, -32601);
  };
  auto open = session("stdio:slow");
  time_.advance(seconds(4));
  EXPECT_FALSE(connected_);
  // It reads what has piled up: the probe, whose answer is too late, and the handshake.
  auto& server = *connector_.connections.front();
  ASSERT_EQ(unread.size(), 2U);
  server.result(unread[0], {{"supportedVersions", {"2026-07-28"}}});
  server.error(unread[1], -32601);
  ASSERT_TRUE(connected_ && *connected_) << connected_->error().message;
  EXPECT_TRUE((*connected_)->is_modern);
  EXPECT_EQ(methods(),
            (std::vector<std::string>{"server/discover", "initialize", "server/discover"}));
}

TEST_F(ClientSessionTest, TheProbesLengthIsASetting) {
  connector_.script = [](ScriptedConnection& server, const json& message, const Headers&) {
    if (message["method"] != "server/discover") answer_handshake(server, message);
  };
  SessionOptions options;
  options.longest_probe = std::chrono::milliseconds(100);
  auto open = session("tcp://127.0.0.1:9", std::move(options));
  time_.advance(std::chrono::milliseconds(99));
  EXPECT_FALSE(connected_);
  time_.advance(std::chrono::milliseconds(1));
  EXPECT_TRUE(connected_ && *connected_);
}

TEST_F(ClientSessionTest, AResultThatAsksForInputIsNone) {
  json type = "input_required";
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers&) {
    if (message["method"] == "server/discover")
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
    server.result(message, {{"resultType", type}, {"content", json::array()}});
  };
  auto open = session("http://127.0.0.1:9/mcp");
  for (const json& unfinished : {json("input_required"), json("task"), json(7)}) {
    type = unfinished;
    auto answer = ask(*open, "tools/call");
    ASSERT_TRUE(answer.error);
    EXPECT_EQ(answer.error->code, ErrorCode::kInvalidReply);
    EXPECT_TRUE(answer.is_unfinished);
    EXPECT_NE(answer.error->message.find("resultType"), std::string::npos);
  }
  type = "complete";
  EXPECT_FALSE(ask(*open, "tools/call").error);
}

TEST_F(ClientSessionTest, ArgumentsThatAToolMarksAreHeaderFieldsToo) {
  int lists = 0;
  connector_.script = [&](ScriptedConnection& server, const json& message, const Headers& headers) {
    if (message["method"] == "server/discover")
      return server.result(message, {{"supportedVersions", {"2026-07-28"}}});
    if (message["method"] == "tools/list") {
      ++lists;
      auto property = [](const char* mark) -> json {
        return {{"properties", {{"a", {{"type", "string"}, {"x-mcp-header", mark}}}}}};
      };
      return server.result(message, {{"tools",
                                      {{{"name", "t"}, {"inputSchema", property("A")}},
                                       {{"name", "bad"}, {"inputSchema", property("A B")}}}}});
    }
    bool has_field = std::ranges::find(headers, std::pair<std::string, std::string>{
                                                    "Mcp-Param-A", "x"}) != headers.end();
    if (has_field) return server.result(message, json::object());
    server.error(message, -32020);
  };
  auto open = session("http://127.0.0.1:9/mcp");
  auto call = [&](const char* tool) {
    const auto answer = now(
        call_tool(open.get(), {.name = tool, .arguments = R"({"a":"x"})", .deadline = deadline()}));
    return answer.response.error ? answer.response.error->code : 0;
  };
  EXPECT_EQ(call("t"), 0) << "it did not know, was refused, asked and called again";
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(call("t"), 0);
  EXPECT_EQ(lists, 1);
  EXPECT_EQ(call("unknown"), -32020) << "asks once, not for ever";
  EXPECT_EQ(lists, 2);
  EXPECT_EQ(ask(*open, "tools/list").response.result["tools"].size(), 1U);
}

}  // namespace
}  // namespace league::mcp::client
