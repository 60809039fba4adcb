#include "tools/league/up/run_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace league::tools {
namespace {

core::Error directory_error(const std::filesystem::path& path, const std::error_code& why) {
  return {core::ErrorCode::kInternalError,
          "cannot make the directory " + path.string() + ": " + why.message() +
              "; choose another with --data and --logs",
          {}};
}

core::Result<std::filesystem::path> fresh_directory(const std::filesystem::path& root,
                                                    const std::string& name) {
  constexpr int kTries = 1000;
  std::error_code failed;
  std::filesystem::create_directories(root, failed);
  if (failed) return directory_error(root, failed);
  std::filesystem::path path = root / name;
  for (int i = 2; i < kTries; ++i) {
    if (std::filesystem::create_directory(path, failed)) return path;
    if (failed && failed != std::errc::file_exists) break;
    path = root / (name + "-" + std::to_string(i));
  }
  return directory_error(path, failed);
}

}  // namespace

std::string run_name(core::UtcTimestamp now) {
  std::string name = now.to_wire();
  std::replace(name.begin(), name.end(), ':', '-');
  return name;
}

core::Result<RunDirectories> make_run_directories(const std::filesystem::path& root,
                                                  core::UtcTimestamp now, RunDirectories wanted) {
  if (wanted.data.empty() || wanted.logs.empty()) {
    auto run = fresh_directory(root, run_name(now));
    if (!run) return run.error();
    if (wanted.data.empty()) wanted.data = *run / "data";
    if (wanted.logs.empty()) wanted.logs = *run / "logs";
  }
  for (const auto* path : {&wanted.data, &wanted.logs}) {
    std::error_code failed;
    std::filesystem::create_directories(*path, failed);
    if (failed) return directory_error(*path, failed);
  }
  return wanted;
}

core::Result<SocketDirectory> SocketDirectory::make() {
  const char* wanted = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): nobody sets it
  std::string name = std::string(wanted != nullptr && *wanted == '/' ? wanted : "/tmp");
  name += "/league-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    return core::Error{core::ErrorCode::kInternalError,
                       "cannot make a directory for sockets like " + name + ": " +
                           std::error_code(errno, std::generic_category()).message() +
                           "; choose another with the environment variable TMPDIR",
                       {}};
  return SocketDirectory(name);
}

core::Result<SocketDirectory> SocketDirectory::make_if(bool is_needed) {
  if (is_needed) return make();
  return SocketDirectory();
}

core::Result<SocketDirectory> SocketDirectory::make_again(const std::filesystem::path& path) {
  if (path.empty()) return make();
  bool is_ours = ::mkdir(path.c_str(), S_IRWXU) == 0;
  struct stat about {};
  if (!is_ours && errno == EEXIST && ::lstat(path.c_str(), &about) == 0)
    is_ours = S_ISDIR(about.st_mode) && about.st_uid == ::geteuid() &&
              (about.st_mode & (S_IRWXG | S_IRWXO)) == 0;
  if (!is_ours) return make();
  return SocketDirectory(path);
}

SocketDirectory& SocketDirectory::operator=(SocketDirectory&& other) noexcept {
  std::swap(path_, other.path_);  // the destructor of `other` removes the old directory
  return *this;
}

SocketDirectory::SocketDirectory(SocketDirectory&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

SocketDirectory::~SocketDirectory() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace league::tools
