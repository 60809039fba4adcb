#include "tests/support/memory/peers_testing.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <future>

namespace league::testing {

namespace {

using core::FileDescriptor;

std::chrono::steady_clock::time_point patience() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(5);
}

bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EAGAIN || !transport::link::wait_ready(fd, POLLOUT, patience())) {
      return false;
    }
  }
  return true;
}

bool receive(int fd, std::string& in) {
  std::array<char, 16384> bytes{};
  if (!transport::link::wait_ready(fd, POLLIN, patience())) return false;
  ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
  if (count <= 0) return false;
  in.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

/// The length of the first message with a Content-Length (or none) in `in`; 0 while incomplete.
std::size_t message_length(const std::string& in) {
  std::size_t head = in.find("\r\n\r\n");
  if (head == std::string::npos) return 0;
  std::size_t field = in.find("Content-Length: ");
  std::size_t body =
      field < head ? std::strtoul(in.c_str() + field + 16, nullptr, 10) : std::size_t{0};
  return in.size() >= head + 4 + body ? head + 4 + body : 0;
}

std::string take_message(int fd, std::string& in) {
  while (message_length(in) == 0) {
    if (!receive(fd, in)) return {};
  }
  std::string message = in.substr(0, message_length(in));
  in.erase(0, message.size());
  return message;
}

}  // namespace

RawClient::RawClient(std::uint16_t port) {
  auto socket = transport::link::connect_to("127.0.0.1", port, patience());
  if (socket) socket_ = *std::move(socket);
}

bool RawClient::send(std::string_view bytes) { return send_all(socket_.get(), bytes); }
bool RawClient::fill() { return receive(socket_.get(), in_); }
std::string RawClient::read_response() { return take_message(socket_.get(), in_); }
void RawClient::finish_sending() { ::shutdown(socket_.get(), SHUT_WR); }

std::string RawClient::read_all() {
  while (fill()) {
  }
  return std::exchange(in_, {});
}

std::string post(std::string_view body, std::string_view headers) {
  return "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

int status_of(std::string_view response) {
  return response.size() < 12 ? 0 : std::atoi(std::string(response.substr(9, 3)).c_str());
}

std::string ok(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

std::string ScriptedServer::Connection::read_request() { return take_message(fd_, in_); }
std::string ScriptedServer::Connection::read_bytes(std::size_t count) {
  while (in_.size() < count && receive(fd_, in_)) {
  }
  std::string bytes = in_.substr(0, count);
  in_.erase(0, bytes.size());
  return bytes;
}
bool ScriptedServer::Connection::send(std::string_view bytes) const { return send_all(fd_, bytes); }
void ScriptedServer::Connection::wait_for_close() const {
  std::string ignored;
  while (receive(fd_, ignored)) {
  }
}

ScriptedServer::ScriptedServer(Script script, const std::string& ip)
    : script_(std::move(script)),
      listener_(std::move(transport::link::listen_on(ip, 0).value())),
      port_(transport::link::local_address(listener_.get()).port),
      acceptor_([this] { accept_all(); }) {}

ScriptedServer::~ScriptedServer() {
  is_stopping_ = true;
  ::shutdown(listener_.get(), SHUT_RDWR);
  acceptor_.join();
  {
    std::lock_guard lock(mutex_);
    for (int fd : open_) ::shutdown(fd, SHUT_RDWR);
  }
  threads_.clear();
}

void ScriptedServer::accept_all() {
  while (!is_stopping_) {
    if (!transport::link::wait_ready(listener_.get(), POLLIN, patience())) continue;
    core::FileDescriptor socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK));
    if (!socket.is_open()) continue;
    int number = connections_++;
    std::lock_guard lock(mutex_);
    open_.push_back(socket.get());
    threads_.emplace_back([this, number, owned = std::move(socket)]() mutable {
      Connection connection(owned.get());
      script_(connection, number);
      std::lock_guard inner(mutex_);
      std::erase(open_, owned.get());
      owned.close();
    });
  }
}

transport::link::CallOutcome call_and_wait(transport::link::Caller& caller,
                                           transport::link::OutboundCall call) {
  auto promise = std::make_shared<std::promise<transport::link::CallOutcome>>();
  auto future = promise->get_future();
  caller.call(std::move(call), [promise](transport::link::CallOutcome outcome) {
    promise->set_value(std::move(outcome));
  });
  if (future.wait_for(std::chrono::seconds(10)) != std::future_status::ready) {
    transport::link::CallOutcome lost;
    lost.error = core::Error{core::ErrorCode::kInternalError, "the completion never ran", {}};
    return lost;
  }
  return future.get();
}

void echo(transport::link::Inbound message, transport::link::ReplySlot reply) {
  transport::link::OutboundReply out;
  out.bytes = std::move(message.bytes);
  reply.send(std::move(out));
}

bool eventually(const std::function<bool()>& condition) {
  auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace league::testing
