#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "bus/transport/broker_testing.h"
#include "bus/transport/nats_bus.h"
#include "common/transport/link/socket.h"
#include "tests/support/temporary_directory.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;
using testing::TestingBroker;

/// A player that sends without end and reads nothing.
class FloodingPlayer {
 public:
  explicit FloodingPlayer(int port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    send("CONNECT {\"verbose\":false,\"user\":\"bot\",\"pass\":\"pw\"}\r\n");
  }
  /// True once the broker has taken nothing for a second; false: it still does after a minute.
  [[nodiscard]] bool is_stalled_in_the_end(const std::string& subject) {
    const std::string payload(1'000, 'x');
    const auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      if (rest_.empty()) rest_ = "PUB " + subject + " 1000\r\n" + payload + "\r\n";
      pollfd writable{socket_.get(), POLLOUT, 0};
      if (::poll(&writable, 1, 1'000) == 0) return true;
      const auto sent = ::send(socket_.get(), rest_.data(), rest_.size(), kFlags);
      if (sent < 0) return false;
      rest_.erase(0, static_cast<std::size_t>(sent));
      bytes_ += static_cast<std::size_t>(sent);
    }
    return false;
  }
  /// True once it could go on for a while, and was stalled after that again; false: not within a
  /// minute.
  [[nodiscard]] bool is_stalled_anew(const std::string& subject) {
    // A player that is still stalled would need minutes for so much.
    constexpr std::size_t kMuch = 400'000;
    for (int tries = 0; tries < 60; ++tries) {
      bytes_ = 0;
      if (!is_stalled_in_the_end(subject)) return false;
      if (bytes_ > kMuch) return true;
    }
    return false;
  }
  /// One message more; waits until the broker takes it.
  void publish(const std::string& subject, const std::string& payload) {
    send(std::exchange(rest_, {}) + "PUB " + subject + " " + std::to_string(payload.size()) +
         "\r\n" + payload + "\r\n");
  }

 private:
  static constexpr int kFlags = MSG_NOSIGNAL | MSG_DONTWAIT;

  void send(std::string text) {
    while (!text.empty()) {
      pollfd writable{socket_.get(), POLLOUT, 0};
      ASSERT_EQ(::poll(&writable, 1, 30'000), 1);
      const auto sent = ::send(socket_.get(), text.data(), text.size(), kFlags);
      ASSERT_GE(sent, 0);
      text.erase(0, static_cast<std::size_t>(sent));
    }
  }

  core::FileDescriptor socket_;
  std::string rest_;  ///< of a message that was sent in part
  std::size_t bytes_ = 0;
};

/// The last text, which comes on another thread.
class LastWord {
 public:
  void set(std::string word) {
    std::lock_guard lock(mutex_);
    word_ = std::move(word);
    changed_.notify_all();
  }
  [[nodiscard]] std::string get() {
    std::lock_guard lock(mutex_);
    return word_;
  }
  [[nodiscard]] bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 30s, [&] { return word_.find(part) != std::string::npos; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string word_;
};

std::ptrdiff_t descriptors_of_this_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

/// A broker that knows a manager and a player, and keeps a megabyte for a slow consumer.
class NatsSlowConsumerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TestingBroker::is_installed()) GTEST_SKIP() << "nats-server is not installed";
  }
  std::string configure(const std::string& write_deadline, const std::string& password = "pw") {
    auto file = (directory_.path() / "broker.conf").string();
    std::ofstream(file) << "max_pending: 1048576\nwrite_deadline: \"" << write_deadline << "\"\n"
                        << "authorization { users: [ { user: manager, password: " << password
                        << " }, { user: bot, password: pw } ] }\n";
    return file;
  }
  std::shared_ptr<Bus> connect(const TestingBroker& broker) {
    auto bus = connect_nats({.urls = broker.url(),
                             .credentials = {.user = "manager", .password = "pw"},
                             .on_fault = [this](std::string text) { fault.set(text); }});
    EXPECT_TRUE(bus) << bus.error().message;
    return bus ? std::move(bus).value() : nullptr;
  }
  static std::unique_ptr<Bus::Subscription> listen(Bus& bus, const std::string& subject,
                                                   LastWord& heard) {
    auto made = bus.subscribe(subject, "",
                              [&heard](const BusMessage& message) { heard.set(message.payload); });
    EXPECT_TRUE(made && bus.flush(20s));
    return made ? std::move(made).value() : nullptr;
  }

  LastWord fault;
  testing::TemporaryDirectory directory_;
};

TEST_F(NatsSlowConsumerTest, StallsWhoPublishesUntilTheSubscriptionEnds) {
  TestingBroker broker({"-c", configure("60s")});
  auto bus = connect(broker);
  auto stall = bus->stall_publishers("one.in");
  ASSERT_TRUE(stall);
  FloodingPlayer player(broker.port());
  ASSERT_TRUE(player.is_stalled_in_the_end("one.in"));
  LastWord heard;
  auto sub = listen(*bus, "*.in", heard);
  FloodingPlayer other(broker.port());
  other.publish("other.in", "is not stalled");
  EXPECT_TRUE(heard.wait_for("is not stalled"));
  stall.reset();
  player.publish("one.in", "goes on");
  EXPECT_TRUE(heard.wait_for("goes on"));
}

TEST_F(NatsSlowConsumerTest, OneConnectionStallsAllAndEachForItself) {
  TestingBroker broker({"-c", configure("60s")});
  auto bus = connect(broker);
  auto one = bus->stall_publishers("one.in");
  auto again = bus->stall_publishers("one.in");
  auto two = bus->stall_publishers("two.in");
  FloodingPlayer first(broker.port());
  FloodingPlayer second(broker.port());
  ASSERT_TRUE(first.is_stalled_in_the_end("one.in"));
  ASSERT_TRUE(second.is_stalled_in_the_end("two.in"));
  LastWord heard;
  auto sub = listen(*bus, "*.in", heard);
  one.reset();
  two.reset();
  second.publish("two.in", "second goes on");
  EXPECT_TRUE(heard.wait_for("second goes on"));
  EXPECT_TRUE(first.is_stalled_in_the_end("one.in"));
}

TEST_F(NatsSlowConsumerTest, StallsAgainWhenTheBrokerHasClosedTheConnection) {
  TestingBroker broker({"-c", configure("3s")});
  auto bus = connect(broker);
  auto stall = bus->stall_publishers("one.in");
  FloodingPlayer player(broker.port());
  ASSERT_TRUE(player.is_stalled_in_the_end("one.in"));
  const auto descriptors = descriptors_of_this_process();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(player.is_stalled_anew("one.in")) << i;
  EXPECT_LE(descriptors_of_this_process(), descriptors + 1);
  EXPECT_EQ(fault.get(), "") << "and nobody is told of it";
}

TEST_F(NatsSlowConsumerTest, StallsAgainWhenTheBrokerIsBack) {
  TestingBroker broker({"-c", configure("60s")});
  auto bus = connect(broker);
  auto stall = bus->stall_publishers("one.in");
  {
    FloodingPlayer player(broker.port());
    ASSERT_TRUE(player.is_stalled_in_the_end("one.in"));
  }
  broker.kill();
  broker.start();
  FloodingPlayer player(broker.port());
  EXPECT_TRUE(player.is_stalled_in_the_end("one.in"));
}

TEST_F(NatsSlowConsumerTest, EndsWhileSomebodyIsStalledOrTheBrokerIsSilent) {
  TestingBroker broker({"-c", configure("60s")});
  for (bool is_frozen : {false, true}) {
    auto bus = connect(broker);
    auto stall = bus->stall_publishers("one.in");
    FloodingPlayer player(broker.port());
    ASSERT_TRUE(player.is_stalled_in_the_end("one.in"));
    if (is_frozen) broker.freeze();
    const auto begin = std::chrono::steady_clock::now();
    bus.reset();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, 5s);
    if (is_frozen) broker.thaw();
    stall.reset();
    player.publish("one.in", "is taken");
  }
}

TEST_F(NatsSlowConsumerTest, StallsByAConnectionWithTlsAsWell) {
  const auto at = directory_.path().string();
  const auto made =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
      "subjectAltName=DNS:localhost -keyout " +
      at + "/key.pem -out " + at + "/cert.pem 2>/dev/null";
  if (std::system(made.c_str()) != 0) GTEST_SKIP() << "openssl is not installed";
  const auto file = configure("60s");
  std::ofstream(file, std::ios::app)
      << "tls { cert_file: \"" << at << "/cert.pem\", key_file: \"" << at << "/key.pem\" }\n";
  TestingBroker broker({"-c", file});
  auto connect_as = [&](const std::string& user) {
    auto bus = connect_nats({.urls = "tls://127.0.0.1:" + std::to_string(broker.port()),
                             .credentials = {.user = user, .password = "pw"},
                             .tls = {.ca = at + "/cert.pem", .expected_host = "localhost"}});
    EXPECT_TRUE(bus && (*bus)->is_connected());
    return bus ? std::move(bus).value() : nullptr;
  };
  auto bus = connect_as("manager");
  auto stall = bus->stall_publishers("one.in");
  auto player = connect_as("bot");
  const BusMessage message{"one.in", "", {}, std::string(1'000, 'x')};
  // A ping behind what is not read is not answered.
  bool is_stalled = false;
  for (int i = 0; i < 1'000 && !is_stalled; ++i) {
    for (int sent = 0; sent < 1'000; ++sent) (void)player->publish(message);
    is_stalled = !player->flush(2s);
  }
  EXPECT_TRUE(is_stalled);
}

TEST_F(NatsSlowConsumerTest, ARefusalIsToldAndTheBusLives) {
  TestingBroker broker({"-c", configure("60s")});
  auto bus = connect(broker);
  broker.kill();
  (void)configure("60s", "another");
  auto stall = bus->stall_publishers("one.in");
  ASSERT_TRUE(stall);
  broker.start();
  EXPECT_TRUE(fault.wait_for("slows down"));
}

TEST_F(NatsSlowConsumerTest, WithoutUsersNobodyIsStalled) {
  TestingBroker broker;
  auto bus = connect_nats({.urls = broker.url()});
  ASSERT_TRUE(bus);
  EXPECT_FALSE((*bus)->stall_publishers("one.in"));
  TestingBroker with_token({"--auth", "shared"});
  auto by_token = connect_nats({.urls = with_token.url().insert(7, "shared@")});
  ASSERT_TRUE(by_token);
  EXPECT_FALSE((*by_token)->stall_publishers("one.in"));
}

}  // namespace
}  // namespace league::transport::bus
