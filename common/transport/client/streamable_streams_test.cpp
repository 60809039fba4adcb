// Streams that break off, listening, sessions, and the end of connections.
#include "common/transport/client/streamable_testing.h"

namespace league::transport::client {
namespace {

TEST(StreamableHttp, ABrokenStreamIsContinued) {
  std::promise<std::string> resumption;
  Streamable peer([&](ScriptedServer::Connection& connection, int number) {
    std::string request = connection.read_request();
    connection.send(kEventHead);
    if (number == 0) {
      connection.send("id: 7\nretry: 5\ndata:\n\n");
    } else {
      resumption.set_value(request);
      connection.send("id: 8\ndata: " + kAnswer + "\n\n");
    }
  });
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(kPatience), {{"Mcp-Session-Id", "s"}}));
  EXPECT_EQ(peer.receiver->texts(1), kAnswer + "|");
  std::string request = resumption.get_future().get();
  EXPECT_TRUE(request.starts_with("GET /mcp HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nLast-Event-ID: 7\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nAccept: text/event-stream\r\n")) << request;
}

TEST(StreamableHttp, AStreamThatEndsWithoutItsAnswerIsLost) {
  Streamable no_id(once(kEventHead + "data: {\"id\":2,\"result\":1}\n\n"));
  Sent sent;
  no_id.connection->send(sent.message(kRequest));
  EXPECT_TRUE(says(sent.lost().message, "ended without the answer"));
  EXPECT_EQ(no_id.receiver->count(), 1U);
  Streamable hopeless(once(kEventHead + "id: 1\n\n"));
  Sent again;
  hopeless.connection->send(again.message(kRequest));
  EXPECT_EQ(again.lost().code, ErrorCode::kConnectionError);
  EXPECT_EQ(hopeless.server.connections(), 6);
  Streamable refusing([](ScriptedServer::Connection& connection, int number) {
    connection.read_request();
    connection.send(number == 0 ? kEventHead + "id: 1\n\n" : answer_with(405, "text/plain", "no"));
  });
  Sent refused;
  refusing.connection->send(refused.message(kRequest));
  EXPECT_TRUE(says(refused.lost().message, "status 405"));
}

TEST(StreamableHttp, AServerThatWantsToBeAskedTooLateIsNotAsked) {
  Streamable peer(once(kEventHead + "id: 1\nretry: 60000\n\n"));
  Sent sent;
  peer.connection->send(sent.message(kRequest, in(milliseconds(500))));
  EXPECT_EQ(sent.lost().code, ErrorCode::kTimeout);
  EXPECT_EQ(peer.server.connections(), 1);
}

TEST(StreamableHttp, ListensAndComesBack) {
  std::promise<std::string> third;
  Streamable peer([&](ScriptedServer::Connection& connection, int number) {
    std::string request = connection.read_request();
    if (number == 2) {
      third.set_value(request);
      connection.send(kEventHead + "id: c\ndata: {\"c\":1}\n\n");
      connection.wait_for_close();
      return;
    }
    connection.send(kEventHead +
                    (number == 0 ? "id: a\ndata: {\"a\":1}\n\n" : "data: {\"b\":1}\n\n"));
  });
  std::promise<link::SendOutcome> opened;
  peer.connection->open_stream({{"Mcp-Session-Id", "s"}}, [&](const link::SendOutcome& outcome) {
    opened.set_value(outcome);
  });
  auto outcome = opened.get_future().get();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_EQ(peer.receiver->texts(3), "{\"a\":1}|{\"b\":1}|{\"c\":1}|");
  std::string request = third.get_future().get();
  EXPECT_TRUE(says(request, "\r\nLast-Event-ID: a\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
}

TEST(StreamableHttp, ListeningMayBeRefused) {
  auto refusal_by = [](const std::string& answer) {
    Streamable peer(once(answer));
    std::promise<link::SendOutcome> opened;
    peer.connection->open_stream({}, [&](const link::SendOutcome& out) { opened.set_value(out); });
    return opened.get_future().get();
  };
  auto none = refusal_by(answer_with(405, "text/plain", "no streams"));
  EXPECT_FALSE(none.error);
  EXPECT_EQ(none.http_status, 405);
  auto unknown = refusal_by(answer_with(404, "text/plain", "no session"));
  ASSERT_TRUE(unknown.error);
  EXPECT_EQ(unknown.http_status, 404);
  EXPECT_TRUE(says(unknown.error->message, "no session"));
  auto html = refusal_by(answer_with(200, "text/html", "<p>"));
  ASSERT_TRUE(html.error);
  EXPECT_EQ(html.error->code, ErrorCode::kInvalidReply);
}

TEST(StreamableHttp, EndsSessions) {
  std::promise<std::string> seen;
  Streamable peer([&](ScriptedServer::Connection& connection, int) {
    seen.set_value(connection.read_request());
    connection.send("HTTP/1.1 204 No Content\r\n\r\n");
    connection.wait_for_close();
  });
  std::promise<link::SendOutcome> ended;
  peer.connection->end_session({{"Mcp-Session-Id", "s"}}, in(kPatience),
                               [&](const link::SendOutcome& outcome) { ended.set_value(outcome); });
  auto outcome = ended.get_future().get();
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(outcome.http_status, 204);
  std::string request = seen.get_future().get();
  EXPECT_TRUE(request.starts_with("DELETE /mcp HTTP/1.1\r\n")) << request;
  EXPECT_TRUE(says(request, "\r\nMcp-Session-Id: s\r\n")) << request;
}

TEST(StreamableHttp, ClosingSendsWhatWaitsAndFailsWhatRuns) {
  std::promise<void> is_asked;
  Streamable peer([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "id: 1\n\n");
    is_asked.set_value();
    connection.wait_for_close();
  });
  Sent running;
  peer.connection->send(running.message(kRequest));
  is_asked.get_future().wait();
  EXPECT_FALSE(running.outcome().error);
  peer.connection->close();
  EXPECT_EQ(peer.receiver->wait_closed().code, ErrorCode::kShuttingDown);
  EXPECT_EQ(running.lost().code, ErrorCode::kShuttingDown);
  Sent late;
  peer.connection->send(late.message(kRequest));
  EXPECT_EQ(late.outcome().error->code, ErrorCode::kShuttingDown);
}

TEST(StreamableHttp, AReceiverMayPause) {
  Streamable peer([](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead);
    for (int i = 0; i < 4000; ++i) {
      if (!connection.send("data: {\"n\":" + std::to_string(i) + "}\n\n")) return;
    }
    connection.send("data: " + kAnswer + "\n\n");
    connection.wait_for_close();
  });
  peer.connection->set_reading(false);
  Sent sent;
  peer.connection->send(sent.message(kRequest));
  EXPECT_FALSE(sent.outcome().error);
  EXPECT_EQ(peer.receiver->count(), 0U);
  peer.connection->set_reading(true);
  auto messages = peer.receiver->wait_for(4001);
  ASSERT_EQ(messages.size(), 4001U);
  EXPECT_EQ(messages[3999].bytes, "{\"n\":3999}");
  EXPECT_EQ(messages[4000].bytes, kAnswer);
}

TEST(StreamableHttp, TheEventLoopMayEndUnderARunningRequest) {
  std::promise<void> is_asked;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send(kEventHead + "id: 1\n\n");
    is_asked.set_value();
    connection.wait_for_close();
  });
  auto loop = *link::EventLoop::start();
  auto connection = make_streamable_http_connection(*loop, endpoint_at("http", server.port(), "/"));
  connection->start(std::make_shared<Collector>());
  Sent sent;
  connection->send(sent.message(kRequest));
  is_asked.get_future().wait();
  loop->stop();
  connection = nullptr;  // nothing leaks, which the sanitizers see
}

}  // namespace
}  // namespace league::transport::client
