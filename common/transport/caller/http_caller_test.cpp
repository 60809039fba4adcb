#include "common/transport/caller/http_caller.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>

#include "common/transport/front/http_server.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::caller {
namespace {

using core::ErrorCode;
using league::testing::call_and_wait;
using league::testing::echo;
using league::testing::eventually;
using league::testing::FunctionHandler;
using league::testing::ok;
using league::testing::ScriptedServer;
using std::chrono::milliseconds;

link::OutboundCall to(std::uint16_t port, milliseconds limit = milliseconds(2000),
                      const std::string& host = "127.0.0.1") {
  link::OutboundCall call;
  call.endpoint = *link::parse_endpoint("http://" + host + ":" + std::to_string(port) + "/mcp");
  call.bytes = std::make_shared<const std::string>(R"({"id":1})");
  call.deadline = std::chrono::steady_clock::now() + limit;
  return call;
}

/// Answers every request on a connection alike.
ScriptedServer::Script always(std::string response) {
  return [response](ScriptedServer::Connection& connection, int) {
    while (!connection.read_request().empty()) connection.send(response);
  };
}

link::CallOutcome outcome_of(const ScriptedServer::Script& script,
                             milliseconds limit = milliseconds(2000)) {
  ScriptedServer server(script);
  auto caller = *HttpCaller::create();
  return call_and_wait(*caller, to(server.port(), limit));
}

TEST(HttpCaller, SendsAndReceivesExactly) {
  std::promise<std::string> seen;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    seen.set_value(connection.read_request());
    connection.send(ok(" {\"a\" : 1}\n"));
  });
  auto caller = *HttpCaller::create();
  auto outcome = call_and_wait(*caller, to(server.port()));
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(outcome.bytes, " {\"a\" : 1}\n");
  EXPECT_EQ(outcome.http_status, 200);
  EXPECT_GT(outcome.elapsed.count(), 0);
  EXPECT_EQ(outcome.context.direction, rpc::MessageDirection::kServerToClient);
  ASSERT_NE(outcome.context.transport.as_http(), nullptr);
  EXPECT_EQ(outcome.context.transport.as_http()->status, 200);
  std::string request = seen.get_future().get();
  EXPECT_TRUE(request.starts_with("POST /mcp HTTP/1.1\r\n")) << request;
  for (std::string line : {"Host: 127.0.0.1:" + std::to_string(server.port()),
                           std::string("Content-Type: application/json"),
                           std::string("Accept: application/json, text/event-stream"),
                           std::string("Accept-Encoding: identity")}) {
    EXPECT_NE(request.find("\r\n" + line + "\r\n"), std::string::npos) << line;
  }
  EXPECT_TRUE(request.ends_with("\r\n\r\n{\"id\":1}"));
}

TEST(HttpCaller, EveryStatusIsAnAnswer) {
  EXPECT_EQ(
      outcome_of(
          always(
              "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"))
          .http_status,
      302);
  EXPECT_EQ(outcome_of(always("HTTP/1.1 204 No Content\r\n\r\n")).http_status, 204);
  auto refused = outcome_of(always("HTTP/1.1 500 Oops\r\nContent-Length: 3\r\n\r\nbad"));
  EXPECT_EQ(refused.http_status, 500);
  EXPECT_EQ(refused.bytes, "bad");
}

TEST(HttpCaller, ReadsChunkedAndUnframedBodies) {
  EXPECT_EQ(outcome_of(always("HTTP/1.1 200 OK\r\nTransfer-Encoding: "
                              "chunked\r\n\r\n2\r\n[1\r\n1\r\n]\r\n0\r\n\r\n"))
                .bytes,
            "[1]");
  EXPECT_EQ(outcome_of([](ScriptedServer::Connection& connection, int) {
              connection.read_request();
              connection.send("HTTP/1.0 200 OK\r\n\r\n[2]");
            }).bytes,
            "[2]");
}

TEST(HttpCaller, SilentPeersEndAtTheDeadline) {
  auto begun = std::chrono::steady_clock::now();
  auto outcome =
      outcome_of([](auto& connection, int) { connection.wait_for_close(); }, milliseconds(500));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kTimeout);
  EXPECT_NE(outcome.error->message.find("no whole answer"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(5000));
}

TEST(HttpCaller, DrippingPeersEndAtTheDeadline) {
  std::atomic<bool> is_over = false;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    std::mutex mutex;
    std::condition_variable never;
    std::unique_lock lock(mutex);
    while (!is_over && connection.send("x")) never.wait_for(lock, milliseconds(5));
  });
  auto caller = *HttpCaller::create();
  auto begun = std::chrono::steady_clock::now();
  auto outcome = call_and_wait(*caller, to(server.port(), milliseconds(150)));
  is_over = true;
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kTimeout);
  auto took = std::chrono::steady_clock::now() - begun;
  EXPECT_GE(took, milliseconds(150));
  EXPECT_LT(took, milliseconds(5000));
}

TEST(HttpCaller, NamesWhatWentWrong) {
  auto garbage = outcome_of(always("hello\r\n\r\n"));
  ASSERT_TRUE(garbage.error);
  EXPECT_EQ(garbage.error->code, ErrorCode::kConnectionError);
  EXPECT_NE(garbage.error->message.find("http://127.0.0.1:"), std::string::npos);
  for (std::string response :
       {std::string(100'000, 'x'), "HTTP/1.1 200 " + std::string(100'000, 'x') + "\r\n\r\n",
        std::string("HTTP/1.1 100 Continue\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    auto outcome = outcome_of([&](ScriptedServer::Connection& connection, int) {
      connection.read_request();
      connection.send(response);
    });
    ASSERT_TRUE(outcome.error) << response.substr(0, 40);
    EXPECT_EQ(outcome.error->code, ErrorCode::kConnectionError);
  }
  auto refused = [&] {
    std::uint16_t port = ScriptedServer(always("")).port();
    auto caller = *HttpCaller::create();
    return call_and_wait(*caller, to(port));
  }();
  ASSERT_TRUE(refused.error);
  EXPECT_NE(refused.error->message.find("connect"), std::string::npos);
}

TEST(HttpCaller, CapsTheAnswer) {
  ScriptedServer server(always(ok(std::string(20'000, 'x'))));
  auto caller = *HttpCaller::create({.max_response = 10'000});
  auto outcome = call_and_wait(*caller, to(server.port()));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kReplyTooLarge);
}

TEST(HttpCaller, ReusesConnections) {
  ScriptedServer server(always(ok("{}")));
  auto caller = *HttpCaller::create();
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(call_and_wait(*caller, to(server.port())).error);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpCaller, RepeatsOnceWhenAKeptConnectionWasClosed) {
  // Each connection answers once and closes when the second request has come.
  std::atomic<int> requests = 0;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    ++requests;
    connection.send(ok("{}"));
    if (!connection.read_request().empty()) ++requests;
  });
  auto caller = *HttpCaller::create();
  auto repeatable = [&] {
    auto call = to(server.port());
    call.is_repeatable = true;
    return call;
  };
  EXPECT_FALSE(call_and_wait(*caller, repeatable()).error);
  EXPECT_FALSE(call_and_wait(*caller, repeatable()).error);
  EXPECT_EQ(requests, 3);
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpCaller, SendsAtMostOnceWhatIsNotHarmlessTwice) {
  std::atomic<int> requests = 0;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    connection.read_request();
    ++requests;
    connection.send(ok("{}"));
    if (!connection.read_request().empty()) ++requests;
  });
  auto caller = *HttpCaller::create();
  EXPECT_FALSE(call_and_wait(*caller, to(server.port())).error);
  auto broken = call_and_wait(*caller, to(server.port()));
  ASSERT_TRUE(broken.error);
  EXPECT_NE(broken.error->message.find("may have been executed"), std::string::npos);
  EXPECT_TRUE(broken.sent_at);
  EXPECT_EQ(requests, 2);
}

TEST(HttpCaller, DoesNotRepeatOnAFreshConnection) {
  ScriptedServer server(
      [](ScriptedServer::Connection& connection, int) { connection.read_request(); });
  auto caller = *HttpCaller::create();
  auto outcome = call_and_wait(*caller, to(server.port()));
  ASSERT_TRUE(outcome.error);
  EXPECT_EQ(outcome.error->code, ErrorCode::kConnectionError);
  EXPECT_EQ(server.connections(), 1);
}

TEST(HttpCaller, DoesNotReuseAfterCloseOrSurplusBytes) {
  for (std::string response :
       {std::string("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"),
        ok("{}") + "surplus"}) {
    ScriptedServer server(always(response));
    auto caller = *HttpCaller::create();
    for (int i = 0; i < 2; ++i) EXPECT_EQ(call_and_wait(*caller, to(server.port())).bytes, "{}");
    EXPECT_EQ(server.connections(), 2);
  }
}

TEST(HttpCaller, FindsLocalhostOnEitherFamily) {
  for (std::string ip : {"127.0.0.1", "::1"}) {
    if (!link::listen_on(ip, 0)) continue;  // a machine without IPv6
    ScriptedServer server(always(ok("{}")), ip);
    auto caller = *HttpCaller::create();
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(call_and_wait(*caller, to(server.port(), milliseconds(2000), "localhost")).error)
          << ip;
    }
  }
}

TEST(HttpCaller, GoesToThePinnedAddressWithTheNameOfTheHost) {
  std::promise<std::string> seen;
  ScriptedServer server([&](ScriptedServer::Connection& connection, int) {
    seen.set_value(connection.read_request());
    connection.send(ok("{}"));
  });
  auto caller = *HttpCaller::create();
  auto call = to(server.port(), milliseconds(2000), "bot.invalid");
  call.endpoint.pinned_address = "127.0.0.1";
  EXPECT_FALSE(call_and_wait(*caller, call).error);
  EXPECT_NE(seen.get_future().get().find("Host: bot.invalid:"), std::string::npos);
}

TEST(HttpCaller, AsksTheSystemForNames) {
  ScriptedServer server(always(ok("{}")));
  auto caller = *HttpCaller::create();
  auto call = to(server.port(), milliseconds(5000));
  call.endpoint.host = "LOCALHOST";  // not the one that is known
  EXPECT_FALSE(call_and_wait(*caller, call).error);
  call.endpoint.host = "no such host";
  auto unknown = call_and_wait(*caller, call);
  ASSERT_TRUE(unknown.error);
  EXPECT_EQ(unknown.error->code, ErrorCode::kConnectionError);
  EXPECT_NE(unknown.error->message.find("cannot be resolved"), std::string::npos);
}

TEST(HttpCaller, ASlowPeerDelaysOnlyItself) {
  ScriptedServer slow([](auto& connection, int) { connection.wait_for_close(); });
  ScriptedServer good(always(ok("{}")));
  auto caller = *HttpCaller::create({.control_calls = 4, .max_per_endpoint = 2});
  std::atomic<int> timeouts = 0;
  for (int i = 0; i < 10; ++i) {
    caller->call(to(slow.port(), milliseconds(2000)), [&](const link::CallOutcome& outcome) {
      if (outcome.error && outcome.error->code == ErrorCode::kTimeout) ++timeouts;
    });
  }
  auto outcome = call_and_wait(*caller, to(good.port(), milliseconds(1500)));
  EXPECT_FALSE(outcome.error);
  EXPECT_EQ(timeouts, 0);
  EXPECT_TRUE(eventually([&] { return timeouts == 10; }));
}

TEST(HttpCaller, ClosesConnectionsThatNobodyUses) {
  std::atomic<int> closed = 0;
  auto counting = [&](ScriptedServer::Connection& connection, int number) {
    always(ok("{}"))(connection, number);
    ++closed;
  };
  ScriptedServer server(counting);
  ScriptedServer other(counting);
  auto impatient = *HttpCaller::create({.connection_idle = milliseconds(20)});
  EXPECT_FALSE(call_and_wait(*impatient, to(server.port())).error);
  EXPECT_TRUE(eventually([&] { return closed == 1; }));
  EXPECT_FALSE(call_and_wait(*impatient, to(server.port())).error);
  EXPECT_TRUE(eventually([&] { return closed == 2; }));
  // The one that was used longest ago makes room.
  auto frugal = *HttpCaller::create({.max_idle_connections = 1});
  EXPECT_FALSE(call_and_wait(*frugal, to(server.port())).error);
  EXPECT_FALSE(call_and_wait(*frugal, to(other.port())).error);
  EXPECT_TRUE(eventually([&] { return closed == 3; }));
  EXPECT_FALSE(call_and_wait(*frugal, to(other.port())).error);
  EXPECT_EQ(other.connections(), 1);
}

TEST(HttpCaller, EndsRunningAndWaitingCallsWhenItIsDestroyed) {
  ScriptedServer server([](auto& connection, int) { connection.wait_for_close(); });
  auto caller = *HttpCaller::create({.max_per_endpoint = 2});
  std::atomic<int> ended = 0;
  for (int i = 0; i < 6; ++i) {
    caller->call(to(server.port(), milliseconds(5000)), [&](const link::CallOutcome& outcome) {
      if (outcome.error && outcome.error->code == ErrorCode::kShuttingDown) ++ended;
    });
  }
  ASSERT_TRUE(eventually([&] { return server.connections() == 2; }));
  auto begun = std::chrono::steady_clock::now();
  caller.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, milliseconds(5000));
  EXPECT_EQ(ended, 6);
}

TEST(HttpCaller, CallsToSlowSeatsLetOthersPass) {
  ScriptedServer server([](auto& connection, int) { connection.wait_for_close(); });
  auto caller = *HttpCaller::create({.max_per_endpoint = 2});
  const auto call = [&](const std::string& path) {
    auto one = to(server.port(), milliseconds(5000));
    one.endpoint.path = path;
    caller->call(std::move(one), [](const link::CallOutcome&) {});
  };
  for (int i = 0; i < 3; ++i) call("/mcp");
  for (const char* player : {"P01", "P02", "P03"}) call("/seats/" + std::string(player));
  EXPECT_TRUE(eventually([&] { return server.connections() == 5; }));
  caller.reset();
}

TEST(HttpCaller, CompletionsMayCallAgain) {
  FunctionHandler handler(echo);
  auto runtime = *front::HttpRuntime::start();
  auto server = *front::HttpServer::start(*runtime, {}, handler);
  auto caller = *HttpCaller::create();
  std::promise<int> done;
  std::atomic<int> left = 200;
  std::function<void(const link::CallOutcome&)> again = [&](const link::CallOutcome& outcome) {
    if (outcome.error) {
      done.set_value(-1);
    } else if (--left > 0) {
      caller->call(to(server->port()), again);
    } else {
      done.set_value(0);
    }
  };
  caller->call(to(server->port()), again);
  EXPECT_EQ(done.get_future().get(), 0);
}

}  // namespace
}  // namespace league::transport::caller
