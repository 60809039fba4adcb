#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "common/core/clock.h"
#include "common/core/file_descriptor.h"
#include "common/core/result.h"

namespace league::transport::link {

/// `example.org:8000`, `[::1]:8000`.
[[nodiscard]] std::string host_and_port(const std::string& host, int port);

/// A numeric address and a port.
struct SocketAddress {
  std::string ip;
  std::uint16_t port = 0;
  bool is_loopback = false;

  [[nodiscard]] std::string text() const { return host_and_port(ip, port); }
};

/// A non-blocking listening socket on a numeric address, backlog 4096; port 0 takes any. Fails with
/// kConnectionError and a text that names address, port and cause.
[[nodiscard]] core::Result<core::FileDescriptor> listen_on(const std::string& ip,
                                                           std::uint16_t port);

/// Holds a name on this machine until the descriptor is closed, or the process has ended. Nothing
/// if somebody holds the name; a closed descriptor if names cannot be held at all (no Unix sockets,
/// no descriptors left, a name of more than 100 bytes).
[[nodiscard]] std::optional<core::FileDescriptor> reserve_name(const std::string& name);

/// A non-blocking connection with TCP_NODELAY to a numeric address. Fails with kTimeout
/// or kConnectionError and a text that says the cause only.
[[nodiscard]] core::Result<core::FileDescriptor> connect_to(const std::string& ip,
                                                            std::uint16_t port,
                                                            core::Clock::Steady deadline);

/// The two addresses of a connection; empty if the socket is not connected.
[[nodiscard]] SocketAddress local_address(int fd);
[[nodiscard]] SocketAddress remote_address(int fd);

/// Sends every write at once: without it a keep-alive call takes 44 ms.
void set_no_delay(int fd);

/// Waits until `fd` is ready for `events` of poll(2). Fails with kTimeout.
[[nodiscard]] core::Result<void> wait_ready(int fd, short events, core::Clock::Steady deadline);

/// Raises the soft limit of open files to the hard limit (at most 65,536) and returns the limit in
/// force.
std::size_t raise_file_limit();

/// A descriptor that ring() makes readable, from any thread.
[[nodiscard]] core::FileDescriptor open_bell();
void ring(const core::FileDescriptor& bell);

/// The text of errno.
[[nodiscard]] std::string system_error_text(int error);

}  // namespace league::transport::link
