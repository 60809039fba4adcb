#include <thread>

#include "common/core/clock.h"
#include "common/transport/link/rate_limiter.h"
#include "tests/support/memory/server_testing.h"

// What strangers may do to a server with a rate limiter, and to those that it knows.
namespace league::transport::front {
namespace {

using namespace memory;  // the vocabulary of these tests

const std::string kKnown = R"({"auth_token":"right"})";
const core::SystemClock kClock;

std::optional<link::RequestSender> recognise(std::string_view /*member*/, std::string_view shown,
                                             std::string_view /*body*/) {
  if (shown != "right") return std::nullopt;
  return link::RequestSender{link::Standing::kPlayer, "P01"};
}

/// Strangers have a burst of `requests` and next to nothing after that.
http::HttpServerOptions limited(int requests) {
  link::RequestBudgetOptions budgets;
  budgets.burst = std::chrono::seconds(1000);
  budgets.allowances.fill({requests / 1000.0, 1e9});
  budgets.allowances[static_cast<std::size_t>(link::Standing::kPlayer)] = {1e6, 1e9};
  http::HttpServerOptions options = memory::Served::quick();
  options.limiter = std::make_shared<link::RateLimiter>(budgets, recognise, kClock);
  return options;
}

TEST(HttpFrontLimit, RefusesBeforeTheHandlerAndKeepsTheConnection) {
  std::atomic<int> handled = 0;
  memory::Served served(
      [&](link::Inbound message, link::ReplySlot reply) {
        ++handled;
        EXPECT_NE(message.meter, nullptr);
        echo(std::move(message), std::move(reply));
      },
      limited(2));
  RawClient client(served.port());
  EXPECT_EQ(status_of(client.ask(post("{}"))), 200);
  EXPECT_EQ(status_of(client.ask(post("{}"))), 200);
  const std::string refusal = client.ask(post("{}"));
  EXPECT_EQ(status_of(refusal), 429);
  EXPECT_NE(refusal.find("Retry-After: "), std::string::npos);
  EXPECT_NE(refusal.find(R"("retry_after_ms":)"), std::string::npos);
  EXPECT_EQ(handled, 2);
  EXPECT_EQ(status_of(client.ask(post(kKnown))), 200) << "a known sender has a budget of its own";
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post("{}"))), 429)
      << "another connection of the same address has not";
}

TEST(HttpFrontLimit, ClosesAfterItsRefusalWhereTheClientWaitsForThat) {
  memory::Served served(echo, limited(1));
  ASSERT_EQ(status_of(RawClient(served.port()).ask(post("{}"))), 200);
  RawClient closing(served.port());
  closing.send(post("{}", "Connection: close\r\n"));
  EXPECT_NE(closing.read_all().find(" 429 "), std::string::npos);
  RawClient old(served.port());
  old.send("POST /mcp HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_NE(old.read_all().find(" 429 "), std::string::npos);
}

TEST(HttpFrontLimit, ARefusedFloodIsAnsweredSlowlyAndEndsWithItsClient) {
  memory::Served served(echo, limited(1));
  RawClient flood(served.port());
  ASSERT_EQ(status_of(flood.ask(post("{}"))), 200);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += post("{}");
  ASSERT_TRUE(flood.send(many));
  for (int i = 0; i < 20; ++i) ASSERT_EQ(status_of(flood.read_response()), 429);
  const auto begun = std::chrono::steady_clock::now();
  ASSERT_EQ(status_of(flood.read_response()), 429);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, milliseconds(200));
  flood.close();
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post(kKnown))), 200);
}

TEST(HttpFrontLimit, HalfSentRequestsMakeRoomForWhoComesLater) {
  memory::Served served(echo, limited(100),
                        {.max_local_connections = 8, .sweep_interval = milliseconds(10)});
  std::vector<RawClient> half;
  half.reserve(50);
  RawClient known(served.port());
  ASSERT_EQ(status_of(known.ask(post(kKnown))), 200);
  for (int i = 0; i < 50; ++i) half.emplace_back(served.port()).send("POST /mcp HTTP/1.1\r\nHo");
  EXPECT_EQ(status_of(RawClient(served.port()).ask(post("{}"))), 200);
  EXPECT_EQ(status_of(known.ask(post(kKnown))), 200) << "a known peer's connection is not closed";
}

TEST(HttpFrontLimit, KnownSendersDoNotWaitForStrangers) {
  // One worker, held up until everybody waits.
  std::promise<void> go;
  auto released = go.get_future().share();
  std::mutex mutex;
  std::string order;
  std::atomic<bool> is_first = true;
  memory::Served served(
      [&](link::Inbound message, link::ReplySlot reply) {
        if (is_first.exchange(false)) {
          released.wait();
        } else {
          std::lock_guard lock(mutex);
          order += message.bytes == kKnown ? 'k' : 's';
        }
        echo(std::move(message), std::move(reply));
      },
      limited(100), {.workers = 1, .sweep_interval = milliseconds(10)});
  RawClient holding(served.port());
  holding.send(post("{}"));
  ASSERT_TRUE(eventually([&] { return !is_first; }));
  std::vector<RawClient> strangers;
  strangers.reserve(6);
  for (int i = 0; i < 6; ++i) strangers.emplace_back(served.port()).send(post("{}"));
  RawClient known(served.port());
  known.send(post(kKnown));
  go.set_value();
  EXPECT_EQ(status_of(known.read_response()), 200);
  for (auto& stranger : strangers) EXPECT_EQ(status_of(stranger.read_response()), 200);
  // The worker gathers what has come before it serves, at most eight events at once.
  std::lock_guard lock(mutex);
  EXPECT_LE(order.find('k'), 1U) << order;
}

}  // namespace
}  // namespace league::transport::front
