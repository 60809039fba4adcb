#include "league_manager/operator_key.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "common/core/crypto.h"

namespace league::league_manager {
namespace {

constexpr std::size_t kShortestKey = 16;
constexpr std::size_t kLongestKey = 256;

core::Error key_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, "operator key " + file.string() + ": " + why, ""};
}

core::Result<core::AuthToken> create_key(const std::filesystem::path& file,
                                         core::RandomSource& random) {
  std::string key = "op_" + core::to_base32(random.bytes<32>());
  int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return key_error(file, std::strerror(errno));
  std::string line = key + "\n";
  bool written = ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  ::close(fd);
  if (!written) return key_error(file, "cannot be written");
  return core::AuthToken(std::move(key));
}

}  // namespace

core::Result<core::AuthToken> open_operator_key(const std::filesystem::path& file,
                                                core::RandomSource& random) {
  int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT) return create_key(file, random);
  if (fd < 0) return key_error(file, std::strerror(errno));
  struct stat status {};
  std::array<char, kLongestKey> buffer{};
  bool readable = ::fstat(fd, &status) == 0;
  ssize_t size = ::read(fd, buffer.data(), buffer.size());
  ::close(fd);
  if (!readable || size < 0) return key_error(file, "cannot be read");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return key_error(file, "others may read it; run chmod 600 on it");
  std::string key(buffer.data(), static_cast<std::size_t>(size));
  key = key.substr(0, key.find_first_of("\r\n"));
  if (key.size() < kShortestKey)
    return key_error(file, "its first line must be a key of at least 16 characters");
  return core::AuthToken(std::move(key));
}

}  // namespace league::league_manager
