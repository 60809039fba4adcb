#include "common/transport/line/unix_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace league::transport::line {
namespace {

constexpr int kUnixBacklog = 4096;

core::FileDescriptor unix_stream() {
  return core::FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

/// False if the path is too long for a Unix socket (107 bytes).
bool fill_in(sockaddr_un& address, const std::string& path) {
  if (path.empty() || path.size() >= sizeof address.sun_path) return false;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return true;
}

/// Removes the file if it is a socket without a listener. Returns why it must stay, or an empty
/// text.
std::string clear_stale(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) return "the path exists and is not a socket";
  bool would_block = false;
  auto probe = connect_to_unix(path, would_block);
  if (probe || would_block) return "another program already listens there";
  return ::unlink(path.c_str()) == 0 ? std::string() : link::system_error_text(errno);
}

}  // namespace

void UnixSocketFile::own(const std::string& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return;
  path_ = path;
  device_ = found.st_dev;
  inode_ = found.st_ino;
}

void UnixSocketFile::remove() {
  struct stat found {};
  if (!path_.empty() && ::lstat(path_.c_str(), &found) == 0 && found.st_dev == device_ &&
      found.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
  path_.clear();
}

core::Result<core::FileDescriptor> listen_on_unix(const std::string& path, UnixSocketFile& file) {
  auto refuse = [&](const std::string& cause) {
    return core::Error{
        core::ErrorCode::kConnectionError, "cannot listen on unix:" + path + ": " + cause, {}};
  };
  sockaddr_un address{};
  if (!fill_in(address, path)) return refuse("the path must have 1 to 107 bytes");
  if (auto obstacle = clear_stale(path); !obstacle.empty()) return refuse(obstacle);
  auto socket = unix_stream();
  if (!socket.is_open()) return refuse(link::system_error_text(errno));
  // Before bind, so that others can never connect.
  ::fchmod(socket.get(), S_IRUSR | S_IWUSR);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return refuse(link::system_error_text(errno));
  }
  file.own(path);
  if (::chmod(path.c_str(), S_IRUSR | S_IWUSR) != 0 || ::listen(socket.get(), kUnixBacklog) != 0) {
    return refuse(link::system_error_text(errno));
  }
  return socket;
}

core::Result<core::FileDescriptor> connect_to_unix(const std::string& path, bool& would_block) {
  would_block = false;
  auto refuse = [](const std::string& cause) {
    return core::Error{core::ErrorCode::kConnectionError, cause, {}};
  };
  sockaddr_un address{};
  if (!fill_in(address, path)) return refuse("the path must have 1 to 107 bytes");
  auto socket = unix_stream();
  if (!socket.is_open()) return refuse(link::system_error_text(errno));
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return socket;
  }
  would_block = errno == EAGAIN;
  return refuse(link::system_error_text(errno));
}

}  // namespace league::transport::line
