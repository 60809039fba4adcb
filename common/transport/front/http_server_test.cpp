#include "common/transport/front/http_server.h"

#include "tests/support/memory/server_testing.h"

namespace league::transport::front {
namespace {

using namespace memory;  // the vocabulary of these tests

TEST(HttpServer, AnswersManyRequestsOnOneConnection) {
  memory::Served served;
  RawClient client(served.port());
  for (int i = 0; i < 50; ++i) {
    std::string body = R"({"id":)" + std::to_string(i) + "}";
    std::string response = client.ask(post(body));
    ASSERT_EQ(status_of(response), 200);
    EXPECT_TRUE(response.ends_with("\r\n\r\n" + body));
    EXPECT_NE(response.find("Content-Type: application/json"), std::string::npos);
  }
}

TEST(HttpServer, GivesTheHandlerItsContext) {
  std::promise<rpc::MessageContext> seen;
  memory::Served served([&](link::Inbound message, link::ReplySlot reply) {
    seen.set_value(message.context);
    echo(std::move(message), std::move(reply));
  });
  RawClient(served.port()).ask(post("{}", "X-Test: 1\r\nREMOTE_ADDR: 6.6.6.6\r\n"));
  auto context = seen.get_future().get();
  EXPECT_EQ(context.direction, rpc::MessageDirection::kClientToServer);
  const auto* http = context.transport.as_http();
  ASSERT_NE(http, nullptr);
  EXPECT_EQ(rpc::find_header(*http->headers, "x-test"), "1");
  EXPECT_EQ(http->method.view(), "POST");
  EXPECT_EQ(http->uri.view(), "/mcp");
  EXPECT_TRUE(context.transport.connection->remote_address.starts_with("127.0.0.1:"));
}

/// What a client gets, and what the handler has seen.
struct Exchanged {
  std::string answer;
  std::string seen;
};

/// Answers each message with what `reply` makes, and writes down its headers and bytes.
class Recorder {
 public:
  explicit Recorder(link::OutboundReply reply, http::HttpServerOptions options = Served::quick())
      : served_(
            [this, reply](link::Inbound message, link::ReplySlot slot) {
              const auto* http = message.context.transport.as_http();
              for (const auto& [name, value] : *http->headers) {
                if (name != "X-Slow") seen_ += name + "=" + value + "\n";
              }
              seen_ += std::string(http->uri.view()) + "|" + message.bytes.str();
              slot.send(reply);
            },
            std::move(options)) {}

  Exchanged ask(const std::string& request) {
    seen_.clear();
    std::string answer = RawClient(served_.port()).ask(request);
    const auto date = answer.find("Date: ");
    answer.replace(date, answer.find("\r\n", date) - date, "Date");
    return {std::move(answer), seen_};
  }

 private:
  std::string seen_;  // of the answered call, so no thread writes it any more
  Served served_;
};

TEST(HttpServer, AnswersPlainPostsAsHttplibWould) {
  std::vector<link::OutboundReply> replies(5);
  replies[0].bytes = std::string(R"({"id":1})");
  replies[1].http_status = 202;
  replies[2].http_status = 503;
  replies[3].bytes = std::string("{}");
  replies[3].http_status = 429;
  replies[3].headers = {{"Retry-After", "1"}, {"bad\r\n", "x"}, {"aaa", "2"}};
  replies[4].http_status = 404;
  replies[4].headers = {{"Mcp-Session-Id", "abc"}, {"mcp-session-id", "def"}};
  const std::vector<std::string> fields{
      "",
      "Connection: keep-alive\r\n",
      "Accept: text/event-stream\r\n",
      "Accept: application/json, text/event-stream\r\nAccept: text/html;q=0\r\n",
      "Origin: http://page.example\r\n",
      "REMOTE_ADDR: 6.6.6.6\r\nX-A:  b\t \r\nx-a: c\r\n",
      "Accept-Encoding: gzip\r\nMCP-Protocol-Version: 2025-06-18\r\n",
      "X-Long: " + std::string(3000, 'x') + "\r\n"};
  auto options = Served::quick();
  options.allow_origins = {"http://page.example"};
  options.folder = "/seats/";
  const auto post_to = [](const char* path, const std::string& more) {
    std::string request = post(R"({"a":"%20"})", more);
    return request.replace(request.find("/mcp"), 4, path);
  };
  for (std::size_t i = 0; i < replies.size(); ++i) {
    Recorder recorder(replies[i], options);
    for (const char* path : {"/mcp", "/seats/P07"}) {
      for (const auto& more : fields) {
        const Exchanged plain = recorder.ask(post_to(path, more));
        // httplib decodes values, so the scanner leaves a request with a percent sign to it.
        const Exchanged slow = recorder.ask(post_to(path, more + "X-Slow: %20x\r\n"));
        EXPECT_EQ(plain.answer, slow.answer) << path << i << ' ' << more;
        EXPECT_EQ(plain.seen, slow.seen) << path << i << ' ' << more;
        EXPECT_FALSE(plain.seen.empty());
      }
    }
  }
}

TEST(HttpServer, KeepsPipelinedRequestsInOrder) {
  memory::Served served;
  RawClient client(served.port());
  client.send(post("[1]") + post("[2]") + post("[3]"));
  for (std::string body : {"[1]", "[2]", "[3]"})
    EXPECT_TRUE(client.read_response().ends_with(body));
}

TEST(HttpServer, AcceptsChunkedBodies) {
  memory::Served served;
  RawClient client(served.port());
  std::string response = client.ask(request("POST /mcp",
                                            "Host: localhost\r\nContent-Type: application/json\r\n"
                                            "Transfer-Encoding: chunked\r\n") +
                                    "2\r\n[1\r\n2\r\n,2\r\n1\r\n]\r\n0\r\n\r\n");
  EXPECT_TRUE(response.ends_with("[1,2]")) << response;
}

TEST(HttpServer, RefusesAtTheEdge) {
  memory::Served served;
  EXPECT_EQ(memory::status_for(served,
                               request("POST /mcp", "Host: evil.example\r\nContent-Length: 0\r\n")),
            403);
  EXPECT_EQ(memory::status_for(served, request("POST /mcp", "Content-Length: 0\r\n")), 400);
  EXPECT_EQ(memory::status_for(
                served, request("POST /mcp",
                                "Host: localhost\r\nHost: localhost\r\nContent-Length: 0\r\n")),
            400);
  EXPECT_EQ(memory::status_for(served, post("{}", "Origin: http://evil.example\r\n")), 403);
  EXPECT_EQ(memory::status_for(served, post("{}", "Origin: null\r\n")), 403);
  EXPECT_EQ(memory::status_for(served, post("{}", "Origin: http://localhost\r\n")),
            200);  // a page of its own
  EXPECT_EQ(memory::status_for(served, request("GET /other", "Host: localhost\r\n")), 404);
  EXPECT_EQ(memory::status_for(served,
                               request("POST /health", "Host: localhost\r\nContent-Length: 0\r\n")),
            405);
  EXPECT_EQ(memory::status_for(served, request("GET /health", "Host: 127.0.0.1:1\r\n")), 200);
  EXPECT_EQ(memory::status_for(served, request("GET /healthy", "Host: localhost\r\n")), 404);
  EXPECT_EQ(memory::status_for(served, request("GET /below/", "Host: localhost\r\n")), 404);
  auto below = RawClient(served.port()).ask(request("GET /below/R1M1", "Host: localhost\r\n"));
  EXPECT_TRUE(below.ends_with("\r\n\r\nR1M1")) << below;
  EXPECT_EQ(
      memory::status_for(
          served, request("POST /mcp",
                          "Host: localhost\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n")),
      415);
  EXPECT_EQ(
      memory::status_for(served, request("POST /mcp",
                                         "Host: localhost\r\nContent-Type: multipart/form-data; "
                                         "boundary=x\r\nContent-Length: 0\r\n")),
      415);
  EXPECT_EQ(memory::status_for(
                served, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"),
            415);
  for (const char* type :
       {"application/json-rpc", "application/jsonrequest", "text/json; charset=utf-8"}) {
    EXPECT_EQ(memory::status_for(served, request("POST /mcp", "Host: localhost\r\nContent-Type: " +
                                                                  std::string(type) +
                                                                  "\r\nContent-Length: 2\r\n") +
                                             "{}"),
              200)
        << type;
  }
  EXPECT_EQ(memory::status_for(served, request("POST /mcp",
                                               "Host: localhost\r\nContent-Type: Application/JSON; "
                                               "charset=utf-8\r\nContent-Length: 2\r\n") +
                                           "{}"),
            200);
  EXPECT_EQ(
      memory::status_for(
          served,
          request("POST /mcp",
                  "Host: [::1]:8000\r\nContent-Type: application/json\r\nContent-Length: 2\r\n") +
              "{}"),
      200);
}

TEST(HttpServer, IgnoresRangesAndOffersNone) {
  memory::Served served;
  auto whole = RawClient(served.port())
                   .ask(request("GET /health", "Host: localhost\r\nRange: bytes=0-0\r\n"));
  EXPECT_EQ(status_of(whole), 200) << whole;
  for (const char* page : {"HEAD /health", "HEAD /other"}) {
    RawClient client(served.port());
    client.send(request(page, "Host: localhost\r\nConnection: close\r\n"));
    auto head = client.read_all();
    EXPECT_EQ(head.find("Accept-Ranges"), std::string::npos) << head;
    EXPECT_NE(head.find("\r\nContent-Length: "), std::string::npos) << head;
  }
}

TEST(HttpServer, EveryAnswerHasADate) {
  memory::Served served;
  for (const auto& asked : {request("GET /health", "Host: localhost\r\n"), post("{}"),
                            std::string("garbage\r\n\r\n"), request("GET /mcp", "")}) {
    auto answer = RawClient(served.port()).ask(asked);
    EXPECT_NE(answer.find("\r\nDate: "), std::string::npos) << answer;
    EXPECT_NE(answer.find(" GMT\r\n"), std::string::npos) << answer;
  }
}

TEST(HttpServer, NamesTheAllowedMethod) {
  memory::Served served;
  for (std::string method : {"GET", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    std::string response =
        RawClient(served.port()).ask(request(method + " /mcp", "Host: localhost\r\n"));
    EXPECT_EQ(status_of(response), 405) << method;
    EXPECT_NE(response.find("Allow: POST"), std::string::npos) << method;
    EXPECT_NE(response.find(R"("error":{"code":)"), std::string::npos) << method;
  }
}

TEST(HttpServer, RefusesHostileFramingAndStaysAlive) {
  memory::Served served;
  EXPECT_EQ(memory::status_for(served, "POST /mcp HTTP/1.1\r\nX: " + std::string(30'000, 'x')),
            431);
  EXPECT_EQ(memory::status_for(served, post("{}", "Transfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(memory::status_for(served, post("{}", "Content-Length: 2\r\n")), 400);
  EXPECT_EQ(memory::status_for(served, post("{}", "Content-Encoding: gzip\r\n")), 415);
  EXPECT_EQ(memory::status_for(served, post(std::string(300'000, 'x'))), 413);
  EXPECT_EQ(memory::status_for(served, "\x16\x03\x01 hello tls\r\n\r\n"), 400);
  EXPECT_EQ(memory::status_for(served, request("BREW /mcp", "Host: localhost\r\n")), 400);
  EXPECT_EQ(memory::status_for(served, post("{}")), 200);
}

TEST(HttpServer, RefusesAnEndlessChunkedBody) {
  memory::Served served;
  RawClient client(served.port());
  client.send(request("POST /mcp", "Host: localhost\r\nTransfer-Encoding: chunked\r\n"));
  std::string chunk = "10000\r\n" + std::string(65536, 'x') + "\r\n";
  for (int i = 0; i < 1024 && client.send(chunk); ++i) {
  }
  EXPECT_EQ(status_of(client.read_response()), 413);
  EXPECT_EQ(memory::status_for(served, post("{}")), 200);
}

TEST(HttpServer, EndsRequestsThatDrip) {
  memory::Served served;
  auto begun = std::chrono::steady_clock::now();
  RawClient client(served.port());
  client.send("POST /mcp HTTP/1.1\r\nHost: loc");
  EXPECT_EQ(status_of(client.read_response()), 408);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(1500));
}

TEST(HttpServer, HonestCallsStayFastBesideIdleAndHalfSentOnes) {
  http::HttpServerOptions options = memory::Served::quick();
  options.limits.request_timeout = milliseconds(5000);
  link::raise_file_limit();
  memory::Served served(echo, options);
  std::vector<RawClient> others;
  others.reserve(1200);
  for (int i = 0; i < 1000; ++i) others.emplace_back(served.port());
  for (int i = 0; i < 200; ++i) others.emplace_back(served.port()).send("POST /mcp HTTP/1.1\r\nHo");
  RawClient honest(served.port());
  std::vector<std::chrono::nanoseconds> times;
  for (int i = 0; i < 200; ++i) {
    auto begun = std::chrono::steady_clock::now();
    ASSERT_EQ(status_of(honest.ask(post("{}"))), 200);
    times.push_back(std::chrono::steady_clock::now() - begun);
  }
  std::sort(times.begin(), times.end());
  EXPECT_LT(times[180], memory::kHonestLimit);  // some may meet a busy machine
}

TEST(HttpServer, TakesFiveHundredConnectionsAtOnce) {
  memory::Served served;
  std::vector<RawClient> clients;
  clients.reserve(500);
  for (int i = 0; i < 500; ++i) clients.emplace_back(served.port()).send(post("{}"));
  for (auto& client : clients) EXPECT_EQ(status_of(client.read_response()), 200);
}

TEST(HttpServer, TurnsConnectionsBeyondTheCapAway) {
  memory::Served served(echo, memory::Served::quick(),
                        {.max_connections = 2, .sweep_interval = milliseconds(10)});
  RawClient first(served.port());
  RawClient second(served.port());
  ASSERT_EQ(status_of(first.ask(post("{}"))), 200);
  ASSERT_EQ(status_of(second.ask(post("{}"))), 200);
  EXPECT_EQ(status_of(RawClient(served.port()).read_response()), 503);
  first.close();
  EXPECT_TRUE(eventually([&] { return memory::status_for(served, post("{}")) == 200; }));
}

TEST(HttpServer, HonoursCloseAndHttp10) {
  memory::Served served;
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post("{}", "Connection: close\r\n"))), 200);
  RawClient closing(served.port());
  closing.send(post("{}", "Connection: close\r\n"));
  EXPECT_TRUE(closing.read_all().ends_with("{}"));
  RawClient old(served.port());
  old.send("POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_TRUE(old.read_all().ends_with("{}"));
  RawClient half(served.port());
  half.send(post("{}"));
  half.finish_sending();
  EXPECT_TRUE(half.read_all().ends_with("{}"));
}

TEST(HttpServer, AnswersExpectContinue) {
  memory::Served served;
  RawClient client(served.port());
  client.send(request("POST /mcp",
                      "Host: localhost\r\nContent-Type: application/json\r\nExpect: "
                      "100-continue\r\nContent-Length: 2\r\n"));
  EXPECT_EQ(status_of(client.read_response()), 100);
  EXPECT_TRUE(client.ask("{}").ends_with("{}"));
}

TEST(HttpServer, NeverCompresses) {
  memory::Served served;
  std::string body = "[" + std::string(5000, ' ') + "]";
  EXPECT_TRUE(
      RawClient(served.port()).ask(post(body, "Accept-Encoding: gzip, br\r\n")).ends_with(body));
}

TEST(HttpServer, HidesExceptions) {
  memory::Served served(
      [](const link::Inbound&, const link::ReplySlot&) { throw std::runtime_error("password"); });
  std::string response = RawClient(served.port()).ask(post("{}"));
  EXPECT_EQ(status_of(response), 500);
  EXPECT_EQ(response.find("password"), std::string::npos);
  EXPECT_NE(response.find("-32603"), std::string::npos);
}

TEST(HttpServer, SendsAcknowledgementsWithoutABody) {
  memory::Served served([](const link::Inbound&, link::ReplySlot reply) {
    link::OutboundReply out;
    out.http_status = 202;
    reply.send(std::move(out));
  });
  RawClient client(served.port());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(status_of(client.ask(post("{}"))), 202);
}

}  // namespace
}  // namespace league::transport::front
