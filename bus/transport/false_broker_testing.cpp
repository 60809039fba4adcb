#include "bus/transport/false_broker_testing.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace league::testing {
namespace {

constexpr std::string_view kInfo =
    "INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"proto\":1,\"headers\":true,"
    "\"max_payload\":1048576}\r\n";

}  // namespace

FalseBroker::FalseBroker(int port, Closes closes) : closes_(closes) {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int on = 1;
  ::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      ::listen(listener_, 16) != 0) {
    ::close(listener_);
    throw std::runtime_error("the port of the false broker is taken");
  }
  thread_ = std::thread([this] { serve(); });
}

FalseBroker::~FalseBroker() {
  // Wakes `accept`.
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

bool FalseBroker::wait_for(int connections) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, std::chrono::seconds(20), [&] { return count_ >= connections; });
}

void FalseBroker::serve() {
  std::vector<int> kept;
  for (;;) {
    int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) break;
    {
      std::lock_guard lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
    if (closes_ == Closes::kNever) {
      kept.push_back(connection);
      continue;
    }
    treat(connection);
    ::close(connection);
  }
  for (int connection : kept) ::close(connection);
}

void FalseBroker::treat(int connection) const {
  if (closes_ == Closes::kAtOnce) return;
  ::send(connection, kInfo.data(), kInfo.size(), MSG_NOSIGNAL);
  if (closes_ == Closes::kAfterConnect) {
    pollfd readable{connection, POLLIN, 0};
    char words[4096];
    if (::poll(&readable, 1, 5'000) == 1) (void)::recv(connection, words, sizeof(words), 0);
  }
  if (closes_ == Closes::kAfterPong) {
    std::string words;
    char some[4096];
    while (words.find("PING") == std::string::npos) {
      ssize_t size = ::recv(connection, some, sizeof(some), 0);
      if (size <= 0) return;
      words.append(some, static_cast<std::size_t>(size));
    }
    ::send(connection, "PONG\r\n", 6, MSG_NOSIGNAL);
  }
  if (closes_ == Closes::kWithReset || closes_ == Closes::kAfterPong) {
    linger at_once{1, 0};
    ::setsockopt(connection, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
}

}  // namespace league::testing
