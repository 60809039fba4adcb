#include "common/core/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/core/file_descriptor.h"
#include "common/core/text.h"

namespace league::core {
namespace {

Error file_error(const std::filesystem::path& file, const std::string& why) {
  return {ErrorCode::kInternalError, file.string() + ": " + why, ""};
}

/// The permissions that a file with a secret may not have. The credentials of a systemd unit belong
/// to root, and a list of access rights lets the unit's user read them; their mode then says that
/// the group may read them, too, but nobody else can enter their directory.
mode_t refused_permissions(const std::filesystem::path& file) {
  const char* credentials = std::getenv("CREDENTIALS_DIRECTORY");
  const bool is_credential =
      credentials != nullptr && *credentials != '\0' && file.parent_path() == credentials;
  return is_credential ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
}

}  // namespace

std::string_view secret_line(std::string_view content) {
  if (content.starts_with(kByteOrderMark)) content.remove_prefix(kByteOrderMark.size());
  return trimmed(content.substr(0, content.find_first_of("\r\n")));
}

Result<std::optional<std::string>> read_private_file(const std::filesystem::path& file,
                                                     std::size_t longest) {
  FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor.is_open() && errno == ENOENT) return std::optional<std::string>();
  if (!descriptor.is_open()) return file_error(file, std::strerror(errno));
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return file_error(file, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) return file_error(file, "is not a file");
  if ((status.st_mode & refused_permissions(file)) != 0)
    return file_error(file, "others may read it; run chmod 600 on it");
  std::string content(std::min(static_cast<std::size_t>(status.st_size), longest) + 1, '\0');
  ssize_t size = ::read(descriptor.get(), content.data(), content.size());
  if (size < 0) return file_error(file, std::strerror(errno));
  if (static_cast<std::size_t>(size) > longest) return file_error(file, "is too long");
  content.resize(static_cast<std::size_t>(size));
  return std::optional(std::move(content));
}

Result<void> write_private_file(const std::filesystem::path& file, std::string_view content,
                                Flush flush) {
  auto draft = DraftFile::create(file, {.mode = 0600});
  if (!draft) return draft.error();
  if (auto written = draft->write(content); !written) return written;
  return draft->commit(flush);
}

}  // namespace league::core
