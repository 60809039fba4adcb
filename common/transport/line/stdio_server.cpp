#include "common/transport/line/stdio_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "common/transport/connection/wire_connection.h"

namespace league::transport::line {
namespace {

/// A descriptor of our own for a standard stream. Pipes and terminals are opened again, because the
/// non-blocking flag would otherwise affect all processes that share the stream.
core::FileDescriptor own_descriptor(int fd, int mode) {
  struct stat found {};
  bool can_be_opened =
      ::fstat(fd, &found) == 0 && (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode));
  if (can_be_opened) {
    std::string name = "/proc/self/fd/" + std::to_string(fd);
    core::FileDescriptor fresh(::open(name.c_str(), mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
    if (fresh.is_open()) return fresh;
  }
  return core::FileDescriptor(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

}  // namespace

core::Result<std::shared_ptr<link::ServedConnection>> serve_stdio(link::EventLoop& loop,
                                                                  link::MessageHandler& handler,
                                                                  std::function<void()> on_end,
                                                                  const LineLimits& limits) {
  auto in = own_descriptor(STDIN_FILENO, O_RDONLY);
  auto out = own_descriptor(STDOUT_FILENO, O_WRONLY);
  if (!in.is_open() || !out.is_open()) {
    return core::Error{
        core::ErrorCode::kInternalError,
        "standard input and output cannot be used: " + link::system_error_text(errno),
        {}};
  }
  // From now on other code in this process can neither read our input nor write between our
  // messages.
  core::FileDescriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.is_open()) ::dup2(nothing.get(), STDIN_FILENO);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  rpc::ConnectionInfo info;
  info.connection_id = "stdio-" + std::to_string(::getpid());
  auto context = rpc::TransportContext::stdio().with_connection(
      std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
  auto connection = line_connection(loop,
                                    {std::move(in), std::move(out), std::move(context),
                                     rpc::MessageDirection::kClientToServer, true},
                                    limits);
  link::ServedConnectionOptions options;
  options.on_closed = std::move(on_end);
  return link::ServedConnection::serve(std::move(connection), handler, std::move(options));
}

}  // namespace league::transport::line
