#include "common/transport/connection/wire_connection.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <future>
#include <mutex>
#include <stdexcept>

#include "tests/support/memory/links_testing.h"

namespace league::transport::connection {
namespace {

using league::testing::NotingReceiver;
using league::testing::outbound;

/// What a test and its wire share; touched on the event loop's thread, or under the lock.
struct Script {
  explicit Script(boost::asio::io_context& context) : arrived(context), room(context) {}

  link::Gate arrived;
  link::Gate room;
  std::mutex mutex;
  std::deque<Incoming> incoming;
  std::string done;  ///< what the wire was told to do
  void note(const std::string& what) {
    std::lock_guard lock(mutex);
    done += what + ";";
  }
  std::string noted() {
    std::lock_guard lock(mutex);
    return done;
  }
};

class ScriptedWire final : public Wire {
 public:
  explicit ScriptedWire(std::shared_ptr<Script> script) : script_(std::move(script)) {}

  link::Task<Incoming> read() override {
    while (script_->incoming.empty() && !is_cut_) {
      co_await script_->arrived.pass();
      script_->arrived.close();
    }
    Incoming next = WireEnd{{core::ErrorCode::kConnectionError, "cut", {}}};
    if (is_cut_) co_return next;
    next = std::move(script_->incoming.front());
    script_->incoming.pop_front();
    co_return next;
  }
  link::Task<core::Result<std::size_t>> write(std::span<const std::string_view> messages) override {
    co_await script_->room.pass();
    if (!is_cut_) script_->note("write " + std::string(messages.front()));
    co_return std::size_t{1};
  }
  link::Task<std::optional<core::Error>> close(std::uint16_t code) override {
    script_->note("close " + std::to_string(code));
    co_return std::nullopt;
  }
  void hang_up(bool is_all_sent) override {
    is_cut_ = true;
    script_->note(is_all_sent ? "hang up" : "hang up early");
    script_->arrived.open();
    script_->room.open();
  }

 private:
  const std::shared_ptr<Script> script_;
  bool is_cut_ = false;
};

class WireConnectionTest : public ::testing::Test {
 protected:
  WireConnectionTest() { open_room(); }
  void open_room() {
    loop_->post([script = script_] { script->room.open(); });
  }
  void close_room() {
    loop_->post([script = script_] { script->room.close(); });
  }
  void arrive(Incoming next) {
    loop_->post([script = script_, next = std::move(next)] {
      script->incoming.push_back(next);
      script->arrived.open();
    });
  }
  /// Everything that was posted before has run.
  void settle() {
    for (int i = 0; i < 10; ++i) {
      std::promise<void> passed;
      loop_->post([&] { passed.set_value(); });
      passed.get_future().wait();
    }
  }

  std::unique_ptr<link::EventLoop> loop_ = *link::EventLoop::start();
  std::shared_ptr<Script> script_ = std::make_shared<Script>(loop_->context());
  std::shared_ptr<NotingReceiver> receiver_ = std::make_shared<NotingReceiver>();
  std::shared_ptr<WireConnection> connection_ = WireConnection::create(
      *loop_, std::make_unique<ScriptedWire>(script_),
      {.context = {},
       .max_queue = 10,
       .closed = {{core::ErrorCode::kShuttingDown, "closed", {}}, 1000},
       .too_slow = {{core::ErrorCode::kConnectionError, "too slow", {}}, 1013}});
};

TEST_F(WireConnectionTest, WhatArrivesInAPauseIsKept) {
  connection_->start(receiver_);
  arrive("1");
  receiver_->wait_for(1);
  connection_->set_reading(false);
  arrive("2");
  arrive("3");
  settle();
  EXPECT_EQ(receiver_->wait_for(1), std::vector<std::string>{"1"});
  connection_->set_reading(true);
  EXPECT_EQ(receiver_->wait_for(3), (std::vector<std::string>{"1", "2", "3"}));
}

TEST_F(WireConnectionTest, SaysGoodbyeAfterWhatIsQueued) {
  connection_->start(receiver_);
  connection_->send(outbound("1"));
  connection_->send(outbound("2"));
  connection_->close();
  EXPECT_EQ(receiver_->wait_for_end()->code, core::ErrorCode::kShuttingDown);
  EXPECT_EQ(script_->noted(), "write 1;write 2;close 1000;hang up;");
}

TEST_F(WireConnectionTest, WhoReadsTooSlowlyIsToldAndTheRestIsDropped) {
  close_room();
  connection_->start(receiver_);
  std::atomic<int> failed = 0;
  for (int i = 0; i < 3; ++i) {
    auto message = outbound("123456");
    message.done = [&](const link::SendOutcome& outcome) { failed += outcome.error ? 1 : 0; };
    connection_->send(std::move(message));
  }
  EXPECT_EQ(receiver_->wait_for_end()->message, "too slow");
  EXPECT_EQ(failed, 3);
  EXPECT_TRUE(connection_->was_dropped());
  EXPECT_EQ(script_->noted(), "close 1013;hang up early;");
}

TEST_F(WireConnectionTest, AnExceptionOfTheReceiverClosesWithoutItsText) {
  struct Throwing final : link::MessageReceiver {
    void on_message(link::ReceivedMessage) override { throw std::runtime_error("secret"); }
    void on_closed(const core::Error& why) override { closed.set_value(why.message); }
    std::promise<std::string> closed;
  };
  auto throwing = std::make_shared<Throwing>();
  connection_->start(throwing);
  arrive("1");
  EXPECT_EQ(throwing->closed.get_future().get(), "the message could not be handled");
  EXPECT_EQ(script_->noted(), "close 1011;hang up;");
}

TEST_F(WireConnectionTest, ItMayEndBeforeItStarts) {
  connection_->abort({core::ErrorCode::kConnectionError, "never", {}});
  settle();
  connection_->start(receiver_);
  EXPECT_EQ(receiver_->wait_for_end()->message, "never");
}

}  // namespace
}  // namespace league::transport::connection
