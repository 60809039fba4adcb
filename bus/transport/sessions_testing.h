#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <nlohmann/json.hpp>
#include <string>

#include "bus/transport/bus.h"
#include "bus/transport/bus_connection.h"
#include "bus/transport/bus_listener.h"
#include "bus/transport/bus_sessions.h"
#include "bus/transport/memory_bus_testing.h"
#include "common/transport/caller/link_caller.h"
#include "tests/support/fake_clock.h"
#include "tests/support/memory/links_testing.h"

namespace league::transport::bus {

using nlohmann::json;  // only tests include this
using namespace std::chrono_literals;

/// Answers each request with its method and whose it was, or keeps the slots.
class SessionHandler final : public link::MessageHandler {
 public:
  void on_message(link::Inbound message, link::ReplySlot reply) override {
    auto request = json::parse(message.bytes);
    sessions.push_back(std::string(message.context.session->view()));
    contexts.push_back(message.context);
    methods.push_back(request.value("method", ""));
    channel = message.channel;
    if (is_silent) {
      kept.push_back(std::move(reply));
      return;
    }
    link::OutboundReply answer;
    answer.bytes =
        json{{"jsonrpc", "2.0"}, {"id", request.value("id", json())}, {"result", methods.back()}}
            .dump();
    reply.send(std::move(answer));
  }
  void on_channel_closed(const link::PeerChannel& /*channel*/) override { ++closed; }

  std::vector<std::string> sessions;
  std::vector<std::string> methods;
  std::vector<rpc::MessageContext> contexts;
  std::shared_ptr<link::PeerChannel> channel;
  std::vector<link::ReplySlot> kept;
  bool is_silent = false;
  int closed = 0;
};

/// Both sides of sessions on a bus: a manager, and one agent that calls it and can be called, with
/// a broker inside the process that can be cut and restarted.
class BusSessionsTest : public ::testing::Test {
 protected:
  void SetUp() override { start_manager(); }
  void TearDown() override {
    connections_.clear();
    settle();
    connector_.reset();
    settle();
  }
  void start_manager(std::chrono::milliseconds keep_alive = 1s) {
    BusSessionsOptions options;
    options.league_id = "league_a";
    options.keep_alive = keep_alive;
    options.on_gone = [this](const link::BusSession& session) { gone_.push_back(session.str()); };
    options.on_back = [this](const link::BusSession& session) { back_.push_back(session.str()); };
    auto started = BusSessions::start(*manager_bus_, manager_, time_, time_, random_, options);
    ASSERT_TRUE(started);
    sessions_ = std::move(*started);
  }
  /// Delivers what waits on the event loop, which is the broker's thread too.
  void settle() {
    for (int i = 0; i < 20; ++i) {
      std::promise<void> done;
      loop_->post([&done] { done.set_value(); });
      done.get_future().wait();
    }
  }
  void pass(std::chrono::milliseconds time) {
    for (auto passed = 0ms; passed < time; passed += 50ms) {
      time_.advance(50ms);
      settle();
    }
  }
  /// Opens a connection to `url`, which is kept, and asks it `method`.
  struct PendingCall {
    std::optional<link::CallOutcome> outcome;
  };
  std::shared_ptr<PendingCall> ask(const std::string& url, const std::string& method,
                                   std::chrono::milliseconds limit = 10s) {
    auto asked = std::make_shared<PendingCall>();
    link::OutboundCall call;
    call.endpoint = *link::parse_endpoint(url);
    call.id = rpc::Id(++last_id_);
    call.bytes = json{{"jsonrpc", "2.0"}, {"id", last_id_}, {"method", method}}.dump();
    call.deadline = time_.steady_now() + limit;
    caller_->call(std::move(call),
                  [asked](link::CallOutcome outcome) { asked->outcome = outcome; });
    settle();
    return asked;
  }
  static std::string result_of(const PendingCall& asked) {
    if (!asked.outcome) return "no outcome";
    if (asked.outcome->error) return asked.outcome->error->message;
    return json::parse(asked.outcome->bytes).value("result", asked.outcome->bytes.str());
  }

  league::testing::FakeTime time_;
  core::CryptoRandom random_;
  std::unique_ptr<link::EventLoop> loop_ = *link::EventLoop::start();
  memory::MemoryBroker broker_{[this](auto step) { loop_->post(std::move(step)); }};
  std::unique_ptr<Bus> manager_bus_ = broker_.connect("manager");
  std::unique_ptr<Bus> agent_bus_ = broker_.connect("agent");
  std::unique_ptr<Bus> other_bus_ = broker_.connect("other");
  const link::BusSession agent_ = *link::BusSession::parse("agent-session-1");
  const link::BusSession other_ = *link::BusSession::parse("other-session-2");
  SessionHandler manager_;
  SessionHandler agent_handler_;
  std::vector<std::string> gone_;
  std::vector<std::string> back_;
  std::vector<std::shared_ptr<link::MessageConnection>> connections_;
  std::unique_ptr<BusSessions> sessions_;
  std::unique_ptr<BusConnector> connector_ = std::make_unique<BusConnector>(
      *loop_, SessionOnBus{*agent_bus_, agent_, time_, time_, random_});
  std::unique_ptr<caller::LinkCaller> caller_ =
      std::make_unique<caller::LinkCaller>(*connector_, time_, time_);
  std::int64_t last_id_ = 0;
};

/// Hears the answer to one request at `subject`.
class Discovering {
 public:
  Discovering(Bus& bus, const link::BusSession& session, std::string subject,
              const std::string& method)
      : bus_(bus),
        message_(
            bus_message(std::move(subject), "", session, rpc::MessageDirection::kClientToServer)) {
    message_.payload = json{{"jsonrpc", "2.0"}, {"id", 7}, {"method", method}}.dump();
    message_.reply = link::session_inbox(session, "answer");
  }
  Discovering& reply_at(std::string subject) {
    message_.reply = std::move(subject);
    return *this;
  }
  Discovering& naming(const std::string& session) {
    message_.headers = {{std::string(rpc::kSessionHeader), session}};
    return *this;
  }
  /// A JSON null where nobody answered.
  json ask(const std::function<void()>& settle) {
    json heard;
    auto listening = *bus_.subscribe(
        message_.reply, "", [&](const BusMessage& answer) { heard = json::parse(answer.payload); });
    EXPECT_TRUE(bus_.publish(message_));
    settle();
    return heard;
  }

 private:
  Bus& bus_;
  BusMessage message_;
};

}  // namespace league::transport::bus
