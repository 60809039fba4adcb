#include "common/transport/link/socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace league::transport::link {

namespace {

constexpr int kBacklog = 4096;
constexpr rlim_t kMostFiles = 65536;

struct RawAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

/// Length 0 when `ip` is no numeric address.
RawAddress raw_address(const std::string& ip, std::uint16_t port) {
  RawAddress out;
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out.storage);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out.storage);
  if (::inet_pton(AF_INET, ip.c_str(), &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    out.length = sizeof(sockaddr_in);
  } else if (::inet_pton(AF_INET6, ip.c_str(), &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    out.length = sizeof(sockaddr_in6);
  }
  return out;
}

SocketAddress readable(const RawAddress& raw) {
  SocketAddress out;
  char text[INET6_ADDRSTRLEN] = {};
  if (raw.storage.ss_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(&raw.storage);
    ::inet_ntop(AF_INET, &v4->sin_addr, text, sizeof text);
    out = {text, ntohs(v4->sin_port), (ntohl(v4->sin_addr.s_addr) >> 24) == 127};
  } else if (raw.storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&raw.storage);
    if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) {
      ::inet_ntop(AF_INET, &v6->sin6_addr.s6_addr[12], text, sizeof text);
      out = {text, ntohs(v6->sin6_port), v6->sin6_addr.s6_addr[12] == 127};
    } else {
      ::inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof text);
      out = {text, ntohs(v6->sin6_port), IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) != 0};
    }
  }
  return out;
}

core::Error connection_error(int error) {
  return {core::ErrorCode::kConnectionError, system_error_text(error), {}};
}

}  // namespace

core::Result<core::FileDescriptor> listen_on(const std::string& ip, std::uint16_t port) {
  auto refuse = [&](const std::string& cause) {
    return core::Error{core::ErrorCode::kConnectionError,
                       "cannot listen on " + ip + " port " + std::to_string(port) + ": " + cause,
                       {}};
  };
  const bool is_in_brackets = ip.starts_with('[') && ip.ends_with(']');  // as in a URL
  RawAddress address = raw_address(is_in_brackets ? ip.substr(1, ip.size() - 2) : ip, port);
  if (address.length == 0) {
    return refuse("the address to bind must be numeric, such as 127.0.0.1");
  }
  core::FileDescriptor fd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return refuse(system_error_text(errno));
  int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd.get(), address.get(), address.length) != 0 || ::listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    return refuse(system_error_text(error) +
                  (error == EADDRINUSE ? "; choose another port, or port 0 for any free one" : ""));
  }
  return fd;
}

std::optional<core::FileDescriptor> reserve_name(const std::string& name) {
  constexpr std::size_t kLongestName = 100;
  if (name.size() > kLongestName) return core::FileDescriptor();
  core::FileDescriptor fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path + 1);  // the zero byte before it says that it is no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  if (errno == EADDRINUSE) return std::nullopt;
  return core::FileDescriptor();
}

core::Result<core::FileDescriptor> connect_to(const std::string& ip, std::uint16_t port,
                                              core::Clock::Steady deadline) {
  RawAddress address = raw_address(ip, port);
  if (address.length == 0) return connection_error(EINVAL);
  core::FileDescriptor fd(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.is_open()) return connection_error(errno);
  set_no_delay(fd.get());
  if (::connect(fd.get(), address.get(), address.length) == 0) return fd;
  if (errno != EINPROGRESS) return connection_error(errno);
  if (auto ready = wait_ready(fd.get(), POLLOUT, deadline); !ready) return ready.error();
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &length);
  if (error != 0) return connection_error(error);
  return fd;
}

std::string host_and_port(const std::string& host, int port) {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return (is_ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

SocketAddress local_address(int fd) {
  RawAddress raw;
  raw.length = sizeof raw.storage;
  if (::getsockname(fd, raw.get(), &raw.length) != 0) return {};
  return readable(raw);
}

SocketAddress remote_address(int fd) {
  RawAddress raw;
  raw.length = sizeof raw.storage;
  if (::getpeername(fd, raw.get(), &raw.length) != 0) return {};
  return readable(raw);
}

void set_no_delay(int fd) {
  int yes = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

core::Result<void> wait_ready(int fd, short events, core::Clock::Steady deadline) {
  pollfd wanted{fd, events, 0};
  for (;;) {
    auto left = deadline - std::chrono::steady_clock::now();
    if (left <= left.zero()) break;
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    timespec timeout{seconds.count(), (left - seconds).count()};
    int ready = ::ppoll(&wanted, 1, &timeout, nullptr);
    if (ready > 0) return {};
    if (ready == 0 || errno != EINTR) break;
  }
  return core::Error{core::ErrorCode::kTimeout, "the time limit had passed", {}};
}

core::FileDescriptor open_bell() {
  return core::FileDescriptor(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
}

void ring(const core::FileDescriptor& bell) {
  std::uint64_t one = 1;
  [[maybe_unused]] ssize_t written = ::write(bell.get(), &one, sizeof one);
}

std::size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  rlim_t wanted = std::min(limit.rlim_max, kMostFiles);
  if (limit.rlim_cur < wanted) {
    rlimit raised{wanted, limit.rlim_max};
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  return static_cast<std::size_t>(limit.rlim_cur);
}

std::string system_error_text(int error) {
  return std::error_code(error, std::generic_category()).message();
}

}  // namespace league::transport::link
