#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "common/transport/link/caller.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/link/socket.h"

namespace league::testing {

/// A raw TCP client: says exactly what a test wants it to say. All waits end after 5 s.
class RawClient {
 public:
  explicit RawClient(std::uint16_t port);
  /// False when the peer has closed.
  bool send(std::string_view bytes);
  /// Reads one response (head and Content-Length body); empty when the peer closed before one.
  std::string read_response();
  /// Everything until the peer closes.
  std::string read_all();
  std::string ask(std::string_view bytes) { return send(bytes) ? read_response() : std::string{}; }
  void finish_sending();
  void close() { socket_.close(); }

 private:
  bool fill();
  core::FileDescriptor socket_;
  std::string in_;
};

/// `POST /mcp` with these extra header lines (each ended with CRLF).
std::string post(std::string_view body, std::string_view headers = "");
int status_of(std::string_view response);

/// A raw TCP server: each accepted connection runs the script on a thread of its own, with its
/// number from 0.
class ScriptedServer {
 public:
  /// `read_request` inside a script: what the client sends up to the end of one sized request;
  /// empty at its end.
  class Connection {
   public:
    explicit Connection(int fd) : fd_(fd) {}
    std::string read_request();
    /// Exactly so many bytes, or fewer at the client's end.
    std::string read_bytes(std::size_t count);
    bool send(std::string_view bytes) const;
    /// Blocks until the client closes (what it sends is thrown away).
    void wait_for_close() const;

   private:
    int fd_;
    std::string in_;
  };
  using Script = std::function<void(Connection&, int number)>;

  explicit ScriptedServer(Script script, const std::string& ip = "127.0.0.1");
  ~ScriptedServer();
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int connections() const { return connections_; }

 private:
  void accept_all();
  Script script_;
  core::FileDescriptor listener_;
  std::uint16_t port_;
  std::atomic<int> connections_ = 0;
  std::atomic<bool> is_stopping_ = false;
  std::mutex mutex_;
  std::vector<int> open_;
  std::vector<std::jthread> threads_;
  std::jthread acceptor_;
};

/// An answer with this body on a connection that stays open.
std::string ok(std::string_view body);

/// Calls and waits (at most 10 s) for the outcome.
transport::link::CallOutcome call_and_wait(transport::link::Caller& caller,
                                           transport::link::OutboundCall call);

/// A handler made of a function.
class FunctionHandler final : public transport::link::MessageHandler {
 public:
  using Function = std::function<void(transport::link::Inbound, transport::link::ReplySlot)>;
  explicit FunctionHandler(Function function) : function_(std::move(function)) {}
  void on_message(transport::link::Inbound message, transport::link::ReplySlot reply) override {
    function_(std::move(message), std::move(reply));
  }

 private:
  Function function_;
};

/// Answers with the bytes that it got.
void echo(transport::link::Inbound message, transport::link::ReplySlot reply);

/// Waits, at most 5 s, until the condition holds; polls, for what offers nothing to wait on.
bool eventually(const std::function<bool()>& condition);

}  // namespace league::testing
