#include "common/audit/log/log_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

namespace league::audit::log {
namespace {

using namespace std::chrono_literals;

struct Client final : LogWriter::Client {
  std::optional<LogWriter::Time> serve() override {
    std::lock_guard lock(mutex);
    ++served;
    changed.notify_all();
    return answer ? answer() : std::nullopt;
  }
  bool wait_for(int times) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, 10s, [&] { return served >= times; });
  }
  std::mutex mutex;
  std::condition_variable changed;
  int served = 0;
  std::function<std::optional<LogWriter::Time>()> answer;
};

TEST(LogWriter, ServesWhoeverWakesIt) {
  LogWriter writer;
  Client a;
  Client b;
  writer.attach(a);
  writer.attach(b);
  writer.wake(a);
  EXPECT_TRUE(a.wait_for(1));
  EXPECT_EQ(b.served, 0);
  writer.detach(a);
  writer.wake(a);
  writer.wake(b);
  EXPECT_TRUE(b.wait_for(1));
  writer.detach(b);
  EXPECT_EQ(a.served, 1);
}

TEST(LogWriter, ServesAllThatExpectItInOneRound) {
  LogWriter writer({.batch_delay = 50ms});
  std::vector<Client> clients(20);
  for (Client& client : clients) writer.attach(client);
  for (Client& client : clients) writer.expect(client);
  for (Client& client : clients) EXPECT_TRUE(client.wait_for(1));
  EXPECT_LE(writer.rounds(), 2U);
  for (Client& client : clients) writer.detach(client);
}

TEST(LogWriter, ComesAgainWhenItWasToldTo) {
  LogWriter writer({.batch_delay = 1ms});
  Client client;
  client.answer = [&]() -> std::optional<LogWriter::Time> {
    if (client.served == 3) return std::nullopt;
    return std::chrono::steady_clock::now() + 1ms;
  };
  writer.attach(client);
  writer.wake(client);
  EXPECT_TRUE(client.wait_for(3));
  writer.detach(client);
  EXPECT_EQ(client.served, 3);
}

TEST(LogWriter, WhoDetachesIsNotServedAnyMore) {
  LogWriter writer;
  Client client;
  std::promise<void> entered;
  std::promise<void> leave;
  std::atomic<bool> left{false};
  client.answer = [&]() -> std::optional<LogWriter::Time> {
    entered.set_value();
    leave.get_future().wait();
    left = true;
    return std::nullopt;
  };
  writer.attach(client);
  writer.wake(client);
  entered.get_future().wait();
  auto detached = std::async(std::launch::async, [&] {
    writer.detach(client);
    return left.load();
  });
  EXPECT_EQ(detached.wait_for(20ms), std::future_status::timeout);
  leave.set_value();
  EXPECT_TRUE(detached.get());
}

}  // namespace
}  // namespace league::audit::log
