#include "bus/transport/nats_bus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/false_broker_testing.h"
#include "tests/support/temporary_directory.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using testing::FalseBroker;
using testing::TestingBroker;

/// Texts that come on other threads.
class NatsWords {
 public:
  void add(std::string word) {
    // Told under the lock: who waits may destroy this as soon as it is free.
    std::lock_guard lock(mutex_);
    words_.push_back(std::move(word));
    changed_.notify_all();
  }
  [[nodiscard]] bool wait_for(const std::function<bool(const std::vector<std::string>&)>& is_so) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 20s, [&] { return is_so(words_); });
  }
  [[nodiscard]] bool wait_for(std::size_t count) {
    return wait_for([&](const auto& words) { return words.size() >= count; });
  }
  /// Whether one contains `part`, sooner or later.
  [[nodiscard]] bool wait_for(const std::string& part) {
    return wait_for([&](const auto& words) {
      return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
        return word.find(part) != std::string::npos;
      });
    });
  }
  [[nodiscard]] std::string all() {
    std::lock_guard lock(mutex_);
    std::string text;
    for (const auto& word : words_) text += word + "\n";
    return text;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> words_;
};

class NatsBusTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }
  std::shared_ptr<Bus> connect(const std::string& urls, NatsCredentials credentials = {}) {
    auto bus =
        connect_nats({.urls = urls,
                      .name = "test",
                      .credentials = std::move(credentials),
                      .on_fault = [this](std::string text) { faults.add(std::move(text)); }});
    EXPECT_TRUE(bus) << bus.error().message;
    return bus ? std::move(bus).value() : nullptr;
  }
  static std::unique_ptr<Bus::Subscription> listen(Bus& bus, const std::string& subject,
                                                   NatsWords& words) {
    auto made = bus.subscribe(subject, "",
                              [&words](const BusMessage& message) { words.add(message.payload); });
    EXPECT_TRUE(made);
    return made ? std::move(made).value() : nullptr;
  }
  /// Our word that the state is `is_connected`, now or later.
  static void wait_until_connected(Bus& bus) {
    NatsWords states;
    auto watch = bus.watch([&](bool is_connected) { states.add(is_connected ? "on" : "off"); });
    EXPECT_TRUE(bus.is_connected() || states.wait_for("on"));
  }
  /// The broker has seen everything that `bus` asked for before.
  static void settle(Bus& bus) {
    NatsWords heard;
    auto sub = listen(bus, "settle.here", heard);
    EXPECT_TRUE(bus.publish({"settle.here", "", {}, "x"}));
    EXPECT_TRUE(heard.wait_for(1));
  }
  NatsWords faults;
};

int threads_of_this_process() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("Threads:")) return std::stoi(line.substr(8));
  }
  return 0;
}

TEST_F(NatsBusTest, StartsBeforeItsBroker) {
  TestingBroker broker;
  broker.kill();
  auto bus = connect(broker.url());
  ASSERT_TRUE(bus);
  EXPECT_FALSE(bus->is_connected());
  NatsWords heard;
  auto sub = listen(*bus, "x", heard);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(bus->publish({"x", "", {}, std::to_string(i)}));
  broker.start();
  wait_until_connected(*bus);
  EXPECT_TRUE(bus->publish({"x", "", {}, "last"}));
  ASSERT_TRUE(heard.wait_for("last"));
  EXPECT_EQ(heard.all(), "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\nlast\n");
}

TEST_F(NatsBusTest, WhatWaitsForTheBrokerIsBounded) {
  TestingBroker broker;
  broker.kill();
  auto bus = connect(broker.url());
  ASSERT_TRUE(bus);
  BusMessage message{"x", "", {}, std::string(1 << 20, 'x')};
  int taken = 0;
  while (taken < 10 && bus->publish(message)) ++taken;
  EXPECT_EQ(taken, 3);
  auto refused = bus->publish(message);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, core::ErrorCode::kConnectionError);
}

TEST_F(NatsBusTest, EndsWhileTheBrokerIsDownAndComesAgain) {
  TestingBroker broker;
  for (int i = 0; i < 3; ++i) {
    auto bus = connect(broker.url());
    ASSERT_TRUE(bus);
    EXPECT_TRUE(bus->is_connected());
    NatsWords states;
    auto watch = bus->watch([&](bool) { states.add("lost"); });
    broker.kill();
    ASSERT_TRUE(states.wait_for(1));
    auto begin = std::chrono::steady_clock::now();
    bus.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    auto never = connect(broker.url());
    never.reset();
    broker.start();
  }
  EXPECT_EQ(faults.all(), "");
}

/// What takes the TCP connection and is gone before it has greeted: a broker that is being killed,
/// or a proxy before a dead one.
TEST_F(NatsBusTest, GoesOnLookingWhereConnectionsAreTakenAndClosed) {
  using Closes = FalseBroker::Closes;
  TestingBroker broker;
  for (auto closes :
       {Closes::kAtOnce, Closes::kAfterInfo, Closes::kAfterConnect, Closes::kWithReset}) {
    SCOPED_TRACE(static_cast<int>(closes));
    broker.kill();
    NatsWords heard;  // first: what listens ends before it
    std::shared_ptr<Bus> bus;
    std::unique_ptr<Bus::Subscription> early;
    {
      FalseBroker false_broker(broker.port(), closes);
      bus = connect(broker.url());
      ASSERT_TRUE(bus);
      early = listen(*bus, "x", heard);
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(bus->publish({"x", "", {}, std::to_string(i)}));
      ASSERT_TRUE(false_broker.wait_for(3));
      EXPECT_FALSE(bus->is_connected());
    }
    broker.start();
    wait_until_connected(*bus);
    auto late = listen(*bus, "y", heard);
    EXPECT_TRUE(bus->publish({"x", "", {}, "3"}));
    // Subscriptions have no order among each other.
    ASSERT_TRUE(heard.wait_for(4));
    EXPECT_TRUE(bus->publish({"y", "", {}, "last"}));
    ASSERT_TRUE(heard.wait_for(5));
    EXPECT_EQ(heard.all(), "0\n1\n2\n3\nlast\n");
  }
  EXPECT_EQ(faults.all(), "");
}

TEST_F(NatsBusTest, EndsSoonWhileItLooksForABroker) {
  using Closes = FalseBroker::Closes;
  TestingBroker broker;
  broker.kill();
  for (auto closes : {Closes::kAtOnce, Closes::kAfterInfo, Closes::kWithReset, Closes::kNever}) {
    SCOPED_TRACE(static_cast<int>(closes));
    FalseBroker false_broker(broker.port(), closes);
    auto bus = connect(broker.url());
    ASSERT_TRUE(bus);
    NatsWords heard;
    auto sub = listen(*bus, "x", heard);
    EXPECT_TRUE(bus->publish({"x", "", {}, "1"}));
    ASSERT_TRUE(false_broker.wait_for(2));
    auto begin = std::chrono::steady_clock::now();
    bus.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
  }
}

/// A watcher runs on the thread that has found the broker, which the destructor would wait for.
TEST_F(NatsBusTest, MayBeDestroyedByTheWatcherThatHearsOfItsBroker) {
  TestingBroker broker;
  broker.kill();
  auto bus = connect(broker.url());
  NatsWords done;
  auto watch = bus->watch([&](bool) {
    bus.reset();
    done.add("gone");
  });
  broker.start();
  EXPECT_TRUE(done.wait_for(1));
}

TEST_F(NatsBusTest, FlushSaysWhetherTheBrokerHasWhatWasSent) {
  TestingBroker broker;
  auto bus = connect(broker.url());
  auto other = connect(broker.url());
  NatsWords heard;
  auto sub = listen(*other, "x", heard);
  EXPECT_TRUE(other->flush(10s));
  EXPECT_TRUE(bus->publish({"x", "", {}, "here"}));
  EXPECT_TRUE(bus->flush(10s));
  EXPECT_TRUE(heard.wait_for("here"));
  broker.freeze();
  // On a busy machine what it had under way may still come.
  int answered = 0;
  while (answered < 100 && bus->flush(50ms)) ++answered;
  EXPECT_LT(answered, 100);
  broker.kill();
  EXPECT_FALSE(bus->flush(50ms));
}

/// In the moment between the end of a connection and our hearing of it.
TEST_F(NatsBusTest, AFlushThatCouldNotBeAskedForIsNone) {
  TestingBroker real;
  real.kill();
  FalseBroker broker(real.port(), FalseBroker::Closes::kAfterPong);
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(connect(real.url())->flush(20ms));
}

/// libnats gives up at the second refusal.
TEST_F(NatsBusTest, ComesBackAfterABrokerThatRefusedIt) {
  testing::TemporaryDirectory directory;
  auto file = (directory.path() / "broker.conf").string();
  auto set_password = [&](const std::string& password) {
    std::ofstream(file) << "authorization { user: ann, password: " << password << " }";
  };
  set_password("first");
  TestingBroker broker({"-c", file});
  auto bus = connect(broker.url(), {.user = "ann", .password = "first"});
  ASSERT_TRUE(bus->is_connected());
  NatsWords heard;
  auto sub = listen(*bus, "x", heard);
  broker.kill();
  set_password("second");
  broker.start();
  ASSERT_TRUE(faults.wait_for("refuses this agent"));
  EXPECT_TRUE(bus->publish({"x", "", {}, "waits"}));
  broker.kill();
  set_password("first");
  broker.start();
  EXPECT_TRUE(heard.wait_for("waits"));
}

TEST_F(NatsBusTest, MayBeDestroyedByItsOwnHandler) {
  TestingBroker broker;
  auto other = connect(broker.url());
  NatsWords done;
  auto bus = connect(broker.url());
  auto& its = *bus;
  auto sub = its.subscribe("x", "", [&](const BusMessage&) {
    bus.reset();
    done.add("gone");
  });
  EXPECT_TRUE(its.publish({"x", "", {}, "1"}));
  EXPECT_TRUE(done.wait_for(1));
}

TEST_F(NatsBusTest, AThousandSubscriptionsTakeNoThreads) {
  TestingBroker broker;
  auto bus = connect(broker.url());
  NatsWords heard;
  auto first = listen(*bus, "n.first", heard);
  int before = threads_of_this_process();
  std::vector<std::unique_ptr<Bus::Subscription>> subs;
  for (int i = 0; i < 1'000; ++i) subs.push_back(listen(*bus, "n." + std::to_string(i), heard));
  for (int i = 0; i < 1'000; ++i) {
    EXPECT_TRUE(bus->publish({"n." + std::to_string(i), "", {}, "x"}));
  }
  ASSERT_TRUE(heard.wait_for(1'000));
  EXPECT_LE(threads_of_this_process(), before + 2);
}

TEST_F(NatsBusTest, ABrokerThatStopsAnsweringIsLost) {
  TestingBroker broker;
  auto bus = connect(broker.url());
  NatsWords states;
  auto watch = bus->watch([&](bool is_connected) { states.add(is_connected ? "on" : "off"); });
  broker.freeze();
  EXPECT_TRUE(states.wait_for("off"));
  broker.thaw();
  EXPECT_TRUE(states.wait_for("on"));
}

TEST_F(NatsBusTest, CredentialsAreNeverShown) {
  TestingBroker broker({"--user", "ann", "--pass", "s3cret"});
  std::string host = "127.0.0.1:" + std::to_string(broker.port());
  auto good = connect("nats://ann:s3cret@" + host);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->is_connected());
  EXPECT_EQ(good->url(), "nats://" + host);
  auto also_good = connect("nats://" + host, {.user = "ann", .password = "s3cret"});
  EXPECT_TRUE(also_good->is_connected());
  auto refused = connect_nats({.urls = "nats://ann:wr0ng@" + host});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().field, "credentials");
  EXPECT_NE(refused.error().message.find("nats://" + host), std::string::npos);
  for (const std::string& text : {faults.all(), refused.error().message}) {
    EXPECT_EQ(text.find("s3cret"), std::string::npos) << text;
    EXPECT_EQ(text.find("wr0ng"), std::string::npos) << text;
  }
}

TEST_F(NatsBusTest, AMissingPermissionIsTold) {
  testing::TemporaryDirectory directory;
  auto file = directory.path() / "broker.conf";
  std::ofstream(file) << R"(authorization { users: [
    { user: "ann", password: "pw", permissions: { publish: ["a.>"], subscribe: ["_INBOX.>"] } } ] })";
  TestingBroker broker({"-c", file.string()});
  auto bus = connect(broker.url(), {.user = "ann", .password = "pw"});
  ASSERT_TRUE(bus->is_connected());
  NatsWords heard;
  auto sub = listen(*bus, "secret.>", heard);
  EXPECT_TRUE(faults.wait_for("ermissions"));
  EXPECT_TRUE(bus->publish({"b.c", "", {}, "x"}));
  EXPECT_TRUE(faults.wait_for("b.c"));
  EXPECT_TRUE(bus->is_connected());
}

TEST_F(NatsBusTest, WhatCannotBeUsedIsRefusedAtOnce) {
  EXPECT_FALSE(connect_nats({.urls = ""}));
  EXPECT_FALSE(connect_nats({.urls = "http://127.0.0.1:1"}));
  auto no_ca = connect_nats({.urls = "tls://127.0.0.1:1", .tls = {.ca = "/nonexistent.pem"}});
  ASSERT_FALSE(no_ca);
  EXPECT_EQ(no_ca.error().field, "tls.ca");
}

/// Not a promise: what a request and its answer cost by hand, for the record of the test.
TEST_F(NatsBusTest, ARequestAndItsAnswerTakeMicroseconds) {
  TestingBroker broker;
  auto client = connect(broker.url());
  auto server = connect(broker.url());
  auto service = server->subscribe("ask", "", [&](const BusMessage& question) {
    EXPECT_TRUE(server->publish({question.reply, "", {}, question.payload}));
  });
  std::mutex mutex;
  std::condition_variable changed;
  int answers = 0;
  auto inbox = client->subscribe("_INBOX.a.*", "", [&](const BusMessage& answer) {
    std::lock_guard lock(mutex);
    if (!answer.is_no_responders) ++answers;
    changed.notify_one();
  });
  settle(*server);
  constexpr int kCount = 2'000;
  std::vector<double> took;
  for (int i = 0; i < kCount; ++i) {
    auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex);
    int expected = answers + 1;
    ASSERT_TRUE(client->publish({"ask", "_INBOX.a.1", {{"Trace-Id", "t"}}, std::string(400, 'x')}));
    ASSERT_TRUE(changed.wait_for(lock, 10s, [&] { return answers == expected; })) << i;
    took.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
            .count());
  }
  std::sort(took.begin(), took.end());
  std::cout << "request and answer: median " << took[kCount / 2] << " us, 99 % "
            << took[kCount * 99 / 100] << " us\n";
  EXPECT_LT(took[kCount / 2], 100'000.0);
}

}  // namespace
}  // namespace league::transport::bus
