#include "common/core/draft_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace league::core {
namespace {

Error system_error(const std::filesystem::path& path, int number) {
  return {ErrorCode::kInternalError, path.string() + ": " + std::strerror(number), ""};
}

}  // namespace

Result<DraftFile> DraftFile::create(std::filesystem::path file, const Options& options) {
  std::filesystem::path draft = file.string() + options.suffix;
  // An existing draft may have another mode, or be a link, so it is replaced. Another program that
  // replaces the same draft at this moment can be first in either step.
  constexpr int kAttempts = 1000;
  int descriptor = -1;
  for (int attempt = 0; attempt < kAttempts && descriptor < 0; ++attempt) {
    descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                        static_cast<mode_t>(options.mode));
    if (descriptor >= 0 || errno != EEXIST) break;
    if (::unlink(draft.c_str()) != 0 && errno != ENOENT) break;
  }
  if (descriptor < 0) return system_error(file, errno);
  return DraftFile(std::move(file), std::move(draft), descriptor);
}

DraftFile::DraftFile(std::filesystem::path file, std::filesystem::path draft, int descriptor)
    : file_(std::move(file)), draft_(std::move(draft)), descriptor_(descriptor) {}

DraftFile::DraftFile(DraftFile&& other) noexcept
    : file_(std::move(other.file_)),
      draft_(std::exchange(other.draft_, {})),
      descriptor_(std::move(other.descriptor_)) {}

DraftFile& DraftFile::operator=(DraftFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(draft_, other.draft_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DraftFile::~DraftFile() { discard(); }

void DraftFile::discard() {
  descriptor_.close();
  if (!draft_.empty()) ::unlink(draft_.c_str());
  draft_.clear();
}

Error DraftFile::error_of(int number) const { return system_error(file_, number); }

Result<void> DraftFile::write(std::string_view content) {
  while (!content.empty()) {
    ssize_t written = ::write(descriptor_.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return error_of(errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> DraftFile::commit(Flush flush) {
  if (draft_.empty()) return {};
  if (flush == Flush::kNow && ::fsync(descriptor_.get()) != 0) return error_of(errno);
  descriptor_.close();
  if (::rename(draft_.c_str(), file_.c_str()) != 0) return error_of(errno);
  draft_.clear();
  if (flush == Flush::kLater) return {};
  return flush_directory(file_.parent_path());
}

Result<void> flush_directory(const std::filesystem::path& directory) {
  std::filesystem::path path = directory.empty() ? "." : directory;
  const FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return system_error(path, errno);
  // Some file systems cannot flush a directory (EINVAL): they have nothing to flush.
  if (::fsync(descriptor.get()) != 0 && errno != EINVAL) return system_error(path, errno);
  return {};
}

}  // namespace league::core
