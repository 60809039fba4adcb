#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "common/transport/client/http_client_options.h"
#include "common/transport/link/event_loop.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::client {

using core::ErrorCode;
using league::testing::eventually;
using league::testing::ScriptedServer;
using std::chrono::milliseconds;

inline constexpr milliseconds kPatience{5000};

inline core::Clock::Steady in(milliseconds time) { return std::chrono::steady_clock::now() + time; }

/// Keeps what a connection receives.
class Collector final : public link::MessageReceiver {
 public:
  void on_message(link::ReceivedMessage message) override {
    {
      std::lock_guard lock(mutex_);
      EXPECT_FALSE(why_) << "a message after on_closed";
      messages_.push_back(std::move(message));
    }
    changed_.notify_all();
  }
  void on_closed(const core::Error& why) override {
    {
      std::lock_guard lock(mutex_);
      EXPECT_FALSE(why_) << "on_closed twice";
      why_ = why;
    }
    changed_.notify_all();
  }

  /// The messages once there are `count`, or what came in time.
  std::vector<link::ReceivedMessage> wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    // Thousands of messages take a while under a sanitizer, on a busy machine.
    changed_.wait_for(lock, 6 * kPatience, [&] { return messages_.size() >= count || why_; });
    return messages_;
  }
  std::string texts(std::size_t count) {
    std::string all;
    for (const auto& message : wait_for(count)) all += message.bytes.str() + "|";
    return all;
  }
  core::Error wait_closed() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kPatience, [&] { return why_.has_value(); }));
    return why_.value_or(core::Error{});
  }
  [[nodiscard]] bool is_closed() {
    std::lock_guard lock(mutex_);
    return why_.has_value();
  }
  [[nodiscard]] std::size_t count() {
    std::lock_guard lock(mutex_);
    return messages_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<link::ReceivedMessage> messages_;
  std::optional<core::Error> why_;
};

/// A message whose fate can be waited for.
class Sent {
 public:
  link::OutboundMessage message(std::string bytes, core::Clock::Steady deadline = in(kPatience),
                                HttpHeaders headers = {}) {
    link::OutboundMessage out;
    out.bytes = std::move(bytes);
    out.headers = std::move(headers);
    out.deadline = deadline;
    out.done = [done = done_](const link::SendOutcome& outcome) { done->set_value(outcome); };
    out.lost = [lost = lost_](const core::Error& why) { lost->set_value(why); };
    return out;
  }
  link::SendOutcome outcome() { return get(*done_); }
  core::Error lost() { return get(*lost_); }

 private:
  template <typename T>
  static T get(std::promise<T>& promise) {
    auto future = promise.get_future();
    if (future.wait_for(kPatience) == std::future_status::ready) return future.get();
    ADD_FAILURE() << "nothing was reported";
    return {};
  }
  std::shared_ptr<std::promise<link::SendOutcome>> done_ =
      std::make_shared<std::promise<link::SendOutcome>>();
  std::shared_ptr<std::promise<core::Error>> lost_ = std::make_shared<std::promise<core::Error>>();
};

inline link::Endpoint endpoint_at(const std::string& scheme, std::uint16_t port,
                                  const std::string& path) {
  link::Endpoint endpoint;
  endpoint.scheme = scheme;
  endpoint.host = "127.0.0.1";
  endpoint.port = port;
  endpoint.path = path;
  return endpoint;
}

inline ConnectOutcome open_and_wait(HttpConnector& connector, const link::Endpoint& endpoint,
                                    milliseconds limit = kPatience) {
  auto opened = std::make_shared<std::promise<ConnectOutcome>>();
  auto future = opened->get_future();
  connector.open(endpoint, in(limit),
                 [opened](ConnectOutcome outcome) { opened->set_value(std::move(outcome)); });
  if (future.wait_for(2 * kPatience) == std::future_status::ready) return future.get();
  ADD_FAILURE() << "no outcome of the attempt to connect";
  return ConnectFailure{};
}

inline ConnectFailure failure_of(const ConnectOutcome& outcome) {
  if (const auto* failure = std::get_if<ConnectFailure>(&outcome)) return *failure;
  ADD_FAILURE() << "it connected";
  return {};
}

inline bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline const std::string kEventHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\r\n";

/// One chunk of a chunked body.
inline std::string chunk(std::string_view bytes) {
  std::ostringstream out;
  out << std::hex << bytes.size() << "\r\n" << bytes << "\r\n";
  return out.str();
}
inline const std::string kChunkedEventHead =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: "
    "chunked\r\n\r\n";

inline std::string answer_with(int status, const std::string& type, const std::string& body,
                               const std::string& more = "") {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\nContent-Type: " + type +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + more + "\r\n" + body;
}

}  // namespace league::transport::client
