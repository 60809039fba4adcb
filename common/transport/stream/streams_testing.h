#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/transport/front/http_server.h"
#include "common/transport/link/socket.h"
#include "tests/support/memory/peers_testing.h"

namespace league::transport::stream {

using league::testing::eventually;
using league::testing::status_of;
using std::chrono::milliseconds;

inline std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// A client that says raw bytes and waits for texts to come. Waits end after 5 s.
class StreamClient {
 public:
  explicit StreamClient(std::uint16_t port)
      : socket_(*link::connect_to("127.0.0.1", port, {deadline()})) {}
  StreamClient(std::uint16_t port, std::string_view bytes) : StreamClient(port) { send(bytes); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      if (!link::wait_ready(socket_.get(), POLLOUT, {deadline()})) return false;
      ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// Everything so far, once `text` is in it; fails the test when it does not come.
  std::string read_until(std::string_view text) {
    auto until = deadline();
    while (in_.find(text) == std::string::npos) {
      if (!fill(until)) {
        ADD_FAILURE() << "waited for: " << text << "\ncame: " << in_;
        return in_;
      }
    }
    return in_;
  }
  /// As read_until, and forgets what came up to the text and with it.
  std::string take_until(std::string_view text) {
    std::string all = read_until(text);
    std::size_t end = std::min(all.size(), all.find(text) + text.size());
    in_.erase(0, end);
    return all.substr(0, end);
  }
  /// The next `size` bytes, or fewer when the peer closes before.
  std::string take(std::size_t size) {
    auto until = deadline();
    while (in_.size() < size && fill(until)) {
    }
    std::string taken = in_.substr(0, size);
    in_.erase(0, size);
    return taken;
  }
  /// Everything until the peer closes.
  std::string read_all() {
    auto until = deadline();
    while (fill(until)) {
    }
    EXPECT_TRUE(is_closed_) << "the peer did not close; came: " << in_;
    return in_;
  }
  [[nodiscard]] int fd() const { return socket_.get(); }
  void close() { socket_.close(); }

 private:
  static core::Clock::Steady deadline() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(5);
  }
  bool fill(core::Clock::Steady until) {
    if (!link::wait_ready(socket_.get(), POLLIN, {until})) return false;
    std::array<char, 65536> bytes;  // NOLINT: filled by recv
    ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
    is_closed_ = count <= 0;
    if (count > 0) in_.append(bytes.data(), static_cast<std::size_t>(count));
    return count > 0;
  }

  core::FileDescriptor socket_;
  std::string in_;
  bool is_closed_ = false;
};

/// Answers messages with a function; opens a stream for everybody and remembers it.
class StreamHandler final : public link::MessageHandler {
 public:
  using Function = std::function<void(link::Inbound, link::ReplySlot)>;
  explicit StreamHandler(Function function = league::testing::echo)
      : function_(std::move(function)) {}

  void on_message(link::Inbound message, link::ReplySlot reply) override {
    function_(std::move(message), std::move(reply));
  }
  link::StreamAnswer on_stream(link::StreamRequest request) override {
    std::lock_guard lock(mutex_);
    last_event_id_ = request.last_event_id;
    if (refusal) return *refusal;
    return link::StreamAcceptance{options, [this](std::shared_ptr<link::PeerChannel> channel) {
                                    std::lock_guard inner(mutex_);
                                    channels_.push_back(std::move(channel));
                                  }};
  }
  std::optional<link::StreamRefusal> on_session_end(const rpc::MessageContext&) override {
    return session_refusal;
  }
  void on_channel_closed(const link::PeerChannel& channel) override {
    std::lock_guard lock(mutex_);
    ++closed_[channel.id()];
    reasons_[channel.id()] = channel.close_reason();
  }

  /// The stream with this number, from 0, once it is there.
  std::shared_ptr<link::PeerChannel> channel(std::size_t number) {
    EXPECT_TRUE(eventually([&] { return channel_count() > number; }));
    std::lock_guard lock(mutex_);
    return channels_.at(number);
  }
  std::size_t channel_count() {
    std::lock_guard lock(mutex_);
    return channels_.size();
  }
  std::size_t closed_count() {
    std::lock_guard lock(mutex_);
    return closed_.size();
  }
  /// How often on_channel_closed came.
  int closed(const std::string& id) {
    std::lock_guard lock(mutex_);
    return closed_[id];
  }
  std::string reason(const std::string& id) {
    std::lock_guard lock(mutex_);
    return reasons_[id];
  }

  // Set before the first request.
  link::StreamOptions options;
  std::optional<link::StreamRefusal> refusal;
  std::optional<link::StreamRefusal> session_refusal;

 private:
  Function function_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<link::PeerChannel>> channels_;
  std::map<std::string, int> closed_;
  std::map<std::string, std::string> reasons_;
  std::optional<std::string> last_event_id_;
};

inline http::HttpServerOptions stream_options() {
  http::HttpServerOptions options;
  options.limits.write_timeout = milliseconds(300);
  options.limits.idle_timeout = milliseconds(5000);
  options.stop_grace = milliseconds(300);
  return options;
}

/// A server on such a handler.
struct StreamServer {
  explicit StreamServer(const http::HttpServerOptions& options = stream_options(),
                        StreamHandler::Function function = league::testing::echo)
      : handler(std::move(function)),
        runtime(*front::HttpRuntime::start({.sweep_interval = milliseconds(10)})),
        server(*front::HttpServer::start(*runtime, options, handler)) {}
  [[nodiscard]] std::uint16_t port() const { return server->port(); }

  StreamHandler handler;
  std::unique_ptr<front::HttpRuntime> runtime;
  std::unique_ptr<front::HttpServer> server;
};

inline std::string get(std::string_view path, std::string_view headers = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: localhost\r\n" + std::string(headers) +
         "\r\n";
}

inline std::string listen_request(std::string_view headers = "") {
  return get("/mcp", "Accept: text/event-stream\r\n" + std::string(headers));
}

inline constexpr std::string_view kBoth = "Accept: application/json, text/event-stream\r\n";

}  // namespace league::transport::stream
