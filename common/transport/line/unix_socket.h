#pragma once

#include <sys/types.h>

#include <string>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::transport::line {

/// The file of a listening Unix socket. The destructor removes it if it is still the same file. Not
/// thread-safe.
class UnixSocketFile {
 public:
  UnixSocketFile() = default;
  ~UnixSocketFile() { remove(); }
  UnixSocketFile(const UnixSocketFile&) = delete;
  UnixSocketFile& operator=(const UnixSocketFile&) = delete;

  /// The file that was just bound.
  void own(const std::string& path);
  void remove();

 private:
  std::string path_;  ///< empty: none
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

/// A non-blocking listening socket; its file has mode 0600 and is owned by `file`. A socket file
/// without a listener is replaced; any other file is never touched. Fails with kConnectionError and
/// a text that names the path and the cause.
[[nodiscard]] core::Result<core::FileDescriptor> listen_on_unix(const std::string& path,
                                                                UnixSocketFile& file);

/// A non-blocking connection. Does not wait; `would_block` means that the listener's queue is full
/// at the moment. Fails with kConnectionError and a text that says the cause only.
[[nodiscard]] core::Result<core::FileDescriptor> connect_to_unix(const std::string& path,
                                                                 bool& would_block);

}  // namespace league::transport::line
