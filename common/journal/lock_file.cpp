#include "common/journal/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace league::journal {
namespace {

core::Error lock_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, "lock " + file.string() + ": " + why, ""};
}

std::string owner_of(int descriptor) {
  std::array<char, 32> buffer{};
  ssize_t size = ::pread(descriptor, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
  text = text.substr(0, text.find('\n'));
  return text.empty() ? "another process" : "process " + text;
}

/// False if the process id could not be written, which happens on a full disk.
bool write_owner(int descriptor) {
  std::string text = std::to_string(::getpid()) + "\n";
  return ::ftruncate(descriptor, 0) == 0 &&
         ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

core::Result<LockFile> LockFile::acquire(const std::filesystem::path& file) {
  int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (descriptor < 0) return lock_error(file, std::strerror(errno));
  LockFile lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return lock_error(file, std::strerror(errno));
    return lock_error(
        file, owner_of(descriptor) + " has it: end that program first, or use another directory");
  }
  if (!write_owner(descriptor)) return lock_error(file, std::strerror(errno));
  return lock;
}

core::Result<void> LockFile::share_with_children() {
  if (::fcntl(descriptor_.get(), F_SETFD, 0) == 0) return {};
  return core::Error{core::ErrorCode::kInternalError,
                     std::string("lock: sharing it with children failed: ") + std::strerror(errno),
                     ""};
}

}  // namespace league::journal
