#include "common/core/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace league::core {
namespace {

constexpr std::size_t kLongest = 64 * 1024;

Error file_error(const std::filesystem::path& file, const std::string& why) {
  return {ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

/// A descriptor that is closed with the object.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::optional<std::string>> read_private_file(const std::filesystem::path& file) {
  Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (descriptor.get() < 0 && errno == ENOENT) return std::optional<std::string>();
  if (descriptor.get() < 0) return file_error(file, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return file_error(file, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return file_error(file, "is not a file");
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return file_error(file, "others may read it; run chmod 600 on it");
  std::string content(kLongest + 1, '\0');
  ssize_t size = ::read(descriptor.get(), content.data(), content.size());
  if (size < 0) return file_error(file, std::strerror(errno));
  if (static_cast<std::size_t>(size) > kLongest) return file_error(file, "is too long");
  content.resize(static_cast<std::size_t>(size));
  return std::optional(std::move(content));
}

Result<void> write_private_file(const std::filesystem::path& file, std::string_view content,
                                Flush flush) {
  std::filesystem::path draft = file.string() + ".new";
  {
    Descriptor descriptor(
        ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (descriptor.get() < 0) return file_error(file, std::strerror(errno));
    bool is_written = ::fchmod(descriptor.get(), 0600) == 0 &&
                      write_all(descriptor.get(), content) &&
                      (flush == Flush::kLater || ::fsync(descriptor.get()) == 0);
    if (!is_written) {
      std::string why = std::strerror(errno);
      ::unlink(draft.c_str());
      return file_error(file, why);
    }
  }
  if (::rename(draft.c_str(), file.c_str()) != 0) {
    std::string why = std::strerror(errno);
    ::unlink(draft.c_str());
    return file_error(file, why);
  }
  if (flush == Flush::kLater) return {};
  return flush_directory(file.parent_path());
}

Result<void> flush_directory(const std::filesystem::path& directory) {
  std::filesystem::path path = directory.empty() ? "." : directory;
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (descriptor.get() < 0) return file_error(path, std::strerror(errno));
  // Some file systems cannot flush a directory (EINVAL): they have nothing to flush.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL)
    return file_error(path, std::strerror(errno));
  return {};
}

}  // namespace league::core
