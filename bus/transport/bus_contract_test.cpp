// What every bus promises (bus.h), of the bus inside the process and of NATS.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/bus.h"
#include "bus/transport/memory_bus_testing.h"
#include "bus/transport/nats_bus.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

/// A broker of either kind.
class ContractBroker {
 public:
  virtual ~ContractBroker() = default;
  virtual std::shared_ptr<Bus> connect(const std::string& name) = 0;
  virtual void stop() = 0;
  virtual void start() = 0;
};

/// Its deliveries run on a thread, as those of NATS do.
class ThreadedMemoryBroker final : public ContractBroker {
 public:
  ThreadedMemoryBroker() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  std::shared_ptr<Bus> connect(const std::string& name) override { return broker_.connect(name); }
  void stop() override { broker_.stop(); }
  void start() override { broker_.start(); }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (waiting_.wait(lock, stop, [this] { return !steps_.empty(); })) {
      auto step = std::move(steps_.front());
      steps_.pop_front();
      lock.unlock();
      step();
      step = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::deque<std::function<void()>> steps_;
  memory::MemoryBroker broker_{[this](std::function<void()> step) {
    {
      std::lock_guard lock(mutex_);
      steps_.push_back(std::move(step));
    }
    waiting_.notify_one();
  }};
  std::jthread thread_;
};

class NatsContractBroker final : public ContractBroker {
 public:
  std::shared_ptr<Bus> connect(const std::string& name) override {
    auto bus = connect_nats({.urls = broker_.url(), .name = name});
    if (!bus) throw std::runtime_error(bus.error().message);
    return std::move(bus).value();
  }
  void stop() override { broker_.kill(); }
  void start() override { broker_.start(); }

 private:
  testing::TestingBroker broker_;
};

/// What handlers heard, to be waited for.
class Heard {
 public:
  void add(std::string what) {
    // With the lock: whoever has waited may destroy this at once.
    std::lock_guard lock(mutex_);
    all_.push_back(std::move(what));
    changed_.notify_all();
  }
  Bus::Handler listener(std::string name = "") {
    return [this, name = std::move(name)](const BusMessage& message) {
      add(name + (message.is_no_responders ? "nobody" : message.payload));
    };
  }
  [[nodiscard]] bool wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return all_.size() >= count; });
  }
  [[nodiscard]] std::vector<std::string> all() {
    std::lock_guard lock(mutex_);
    return all_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
};

class BusContract : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (GetParam() == "memory") {
      broker = std::make_unique<ThreadedMemoryBroker>();
      return;
    }
    if (!testing::TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
    broker = std::make_unique<NatsContractBroker>();
  }
  std::unique_ptr<Bus::Subscription> listen(Bus& bus, const std::string& subject,
                                            Bus::Handler handler, const std::string& queue = "") {
    auto made = bus.subscribe(subject, queue, std::move(handler));
    EXPECT_TRUE(made);
    return made ? std::move(made).value() : nullptr;
  }
  /// The broker has seen everything that `bus` asked for before.
  void settle(Bus& bus) {
    Heard heard;
    auto sub = listen(bus, "settle.here", heard.listener());
    EXPECT_TRUE(bus.publish({"settle.here", "", {}, "x"}));
    EXPECT_TRUE(heard.wait_for(1));
  }
  static void say(Bus& bus, const std::string& subject, const std::string& payload,
                  const std::string& reply = "") {
    auto done = bus.publish({subject, reply, {}, payload});
    EXPECT_TRUE(done) << done.error().message;
  }
  std::unique_ptr<ContractBroker> broker;
};

TEST_P(BusContract, APublishedMessageIsHeardWhole) {
  auto a = broker->connect("a");
  auto b = broker->connect("b");
  std::mutex mutex;
  BusMessage got;
  Heard heard;
  auto sub = listen(*b, "x.y", [&](const BusMessage& message) {
    {
      std::lock_guard lock(mutex);
      got = message;
    }
    heard.add("message");
  });
  settle(*b);
  std::string payload("{\"zero\":\"\0\"}\r\n", 14);
  ASSERT_TRUE(a->publish(
      {"x.y", "_INBOX.a.1", {{"Empty", ""}, {"Trace-Id", "t 1"}, {"Other", "o"}}, payload}));
  ASSERT_TRUE(heard.wait_for(1));
  std::lock_guard lock(mutex);
  EXPECT_EQ(got.subject, "x.y");
  EXPECT_EQ(got.reply, "_INBOX.a.1");
  EXPECT_EQ(got.payload, payload);
  EXPECT_EQ(bus_header(got, "trace-id"), "t 1");
  EXPECT_EQ(bus_header(got, "empty"), "");
  EXPECT_EQ(bus_header(got, "other"), "o");
  EXPECT_FALSE(got.is_no_responders);
}

TEST_P(BusContract, MessagesOfOneSenderKeepTheirOrder) {
  auto a = broker->connect("a");
  auto b = broker->connect("b");
  Heard heard;
  auto sub = listen(*b, "x", heard.listener());
  settle(*b);
  for (int i = 0; i < 2'000; ++i) say(*a, "x", std::to_string(i));
  ASSERT_TRUE(heard.wait_for(2'000));
  auto all = heard.all();
  for (int i = 0; i < 2'000; ++i) ASSERT_EQ(all[static_cast<std::size_t>(i)], std::to_string(i));
}

TEST_P(BusContract, WildcardsHearTheirTokens) {
  auto a = broker->connect("a");
  Heard stars;
  Heard rests;
  auto star = listen(*a, "mcp.session.*.in", stars.listener());
  auto rest = listen(*a, "mcp.>", rests.listener());
  say(*a, "mcp.session.abc.in", "1");
  say(*a, "mcp.session.abc.out", "2");
  say(*a, "other", "3");
  say(*a, "mcp.session.def.in", "4");
  ASSERT_TRUE(rests.wait_for(3));
  ASSERT_TRUE(stars.wait_for(2));
  EXPECT_EQ(stars.all(), (std::vector<std::string>{"1", "4"}));
  EXPECT_EQ(rests.all(), (std::vector<std::string>{"1", "2", "4"}));
}

TEST_P(BusContract, OfAQueueOneHearsEach) {
  auto a = broker->connect("a");
  auto b = broker->connect("b");
  Heard group;
  Heard everybody;
  auto sub_a = listen(*a, "work", group.listener(), "workers");
  auto sub_b = listen(*b, "work", group.listener(), "workers");
  auto sub_c = listen(*b, "work", everybody.listener());
  settle(*a);
  settle(*b);
  for (int i = 0; i < 100; ++i) say(*a, "work", std::to_string(i));
  ASSERT_TRUE(group.wait_for(100));
  ASSERT_TRUE(everybody.wait_for(100));
  settle(*a);
  settle(*b);
  EXPECT_EQ(group.all().size(), 100U);
}

TEST_P(BusContract, ARequestIsAnsweredAtItsReplySubject) {
  auto a = broker->connect("a");
  auto b = broker->connect("b");
  Heard heard;
  auto server = listen(*b, "ask", [&](const BusMessage& question) {
    EXPECT_TRUE(b->publish({question.reply, "", {}, "answer to " + question.payload}));
  });
  auto inbox = listen(*a, "_INBOX.a.*", heard.listener());
  settle(*b);
  say(*a, "ask", "1", "_INBOX.a.1");
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_EQ(heard.all().front(), "answer to 1");
}

TEST_P(BusContract, ARequestThatNobodyHearsIsAnsweredByTheBroker) {
  auto a = broker->connect("a");
  Heard heard;
  auto inbox = listen(*a, "_INBOX.a.*", [&](const BusMessage& message) {
    EXPECT_TRUE(message.is_no_responders);
    heard.add(message.subject);
  });
  say(*a, "nobody.here", "?", "_INBOX.a.7");
  ASSERT_TRUE(heard.wait_for(1));
  EXPECT_EQ(heard.all().front(), "_INBOX.a.7");
}

TEST_P(BusContract, AfterItsEndASubscriptionsHandlerDoesNotRun) {
  auto a = broker->connect("a");
  std::atomic<bool> is_running = true;
  std::jthread publisher([&] {
    // Not more than can be delivered meanwhile, or the handlers would wait behind all of it.
    for (int i = 0; is_running; ++i) {
      EXPECT_TRUE(a->publish({"x", "", {}, "1"}));
      if (i % 100 == 99) settle(*a);
    }
  });
  for (int i = 0; i < 50; ++i) {
    auto count = std::make_unique<std::atomic<int>>(0);
    Heard first;
    auto sub = listen(*a, "x", [&, counter = count.get()](const BusMessage&) {
      if (counter->fetch_add(1) == 0) first.add("");
    });
    EXPECT_TRUE(first.wait_for(1));
    sub.reset();
    count.reset();  // a handler that runs now is found by the sanitizers
  }
  is_running = false;
}

TEST_P(BusContract, AHandlerMayEndItsOwnSubscription) {
  auto a = broker->connect("a");
  Heard heard;
  std::mutex mutex;
  std::unique_ptr<Bus::Subscription> own;
  {
    std::lock_guard lock(mutex);
    own = listen(*a, "x", [&](const BusMessage& message) {
      std::unique_ptr<Bus::Subscription> ended;
      {
        std::lock_guard inner(mutex);
        ended = std::move(own);
      }
      ended.reset();
      heard.add(message.payload);
    });
  }
  say(*a, "x", "1");
  say(*a, "x", "2");
  ASSERT_TRUE(heard.wait_for(1));
  settle(*a);
  EXPECT_EQ(heard.all(), std::vector<std::string>{"1"});
}

TEST_P(BusContract, AHandlerMaySubscribeAndPublish) {
  auto a = broker->connect("a");
  Heard heard;
  std::mutex mutex;
  std::vector<std::unique_ptr<Bus::Subscription>> inner;
  auto sub = listen(*a, "x", [&](const BusMessage&) {
    auto made = listen(*a, "y", heard.listener());
    say(*a, "y", "from within");
    std::lock_guard lock(mutex);
    inner.push_back(std::move(made));
  });
  say(*a, "x", "1");
  EXPECT_TRUE(heard.wait_for(1));
  sub.reset();
}

TEST_P(BusContract, WhatABrokerWouldRefuseIsRefusedBefore) {
  auto a = broker->connect("a");
  for (const char* bad : {"", "a b", "a.*", "a.>", "a..b", "a\r\nPUB b 0\r\n"}) {
    EXPECT_FALSE(a->publish({bad, "", {}, "x"})) << bad;
  }
  EXPECT_FALSE(a->publish({"a", "b c", {}, "x"}));
  EXPECT_FALSE(a->publish({"a", "", {{"N", "v\r\nM: w"}}, "x"}));
  EXPECT_FALSE(a->subscribe("a b", "", [](const BusMessage&) {}));
  EXPECT_FALSE(a->subscribe("a", "q q", [](const BusMessage&) {}));
  settle(*a);
}

TEST_P(BusContract, AMessageBeyondTheBrokersLimitIsRefused) {
  auto a = broker->connect("a");
  Heard heard;
  auto sub =
      listen(*a, "x", [&](const BusMessage& m) { heard.add(std::to_string(m.payload.size())); });
  auto limit = a->max_payload();
  ASSERT_EQ(limit, 1U << 20U);
  auto refused = a->publish({"x", "", {}, std::string(limit + 1, 'x')});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::ErrorCode::kReplyTooLarge);
  EXPECT_FALSE(a->publish({"x", "", {{"N", "v"}}, std::string(limit - 5, 'x')}));
  EXPECT_TRUE(a->publish({"x", "", {{"N", "v"}}, std::string(limit - 18, 'x')}));
  EXPECT_TRUE(a->publish({"x", "", {}, std::string(limit, 'x')}));
  ASSERT_TRUE(heard.wait_for(2));
  EXPECT_EQ(heard.all(),
            (std::vector<std::string>{std::to_string(limit - 18), std::to_string(limit)}));
}

TEST_P(BusContract, ALossOfTheBrokerIsTold) {
  auto a = broker->connect("a");
  Heard states;
  Heard heard;
  auto sub = listen(*a, "x", heard.listener());
  auto watch = a->watch([&](bool is_connected) { states.add(is_connected ? "on" : "off"); });
  EXPECT_TRUE(a->is_connected());
  for (std::size_t round = 1; round <= 2; ++round) {
    broker->stop();
    ASSERT_TRUE(states.wait_for(2 * round - 1));
    EXPECT_FALSE(a->is_connected());
    broker->start();
    ASSERT_TRUE(states.wait_for(2 * round));
    EXPECT_TRUE(a->is_connected());
    say(*a, "x", "again");
    ASSERT_TRUE(heard.wait_for(round));
  }
  EXPECT_EQ(states.all(), (std::vector<std::string>{"off", "on", "off", "on"}));
  watch.reset();
  broker->stop();
  EXPECT_EQ(states.all().size(), 4U);
}

TEST_P(BusContract, ABusMayBeDestroyedWhileItsSubscriptionsLive) {
  auto a = broker->connect("a");
  auto b = broker->connect("b");
  Heard heard;
  auto sub = listen(*a, "x", heard.listener());
  auto watch = a->watch([&](bool) { heard.add("state"); });
  a.reset();
  say(*b, "x", "1");
  settle(*b);
  sub.reset();
  watch.reset();
  EXPECT_TRUE(heard.all().empty());
}

INSTANTIATE_TEST_SUITE_P(Buses, BusContract, ::testing::Values("memory", "nats"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace league::transport::bus
