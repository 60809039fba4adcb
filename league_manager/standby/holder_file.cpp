#include "league_manager/standby/holder_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

namespace league::league_manager::standby {
namespace {

using nlohmann::json;

/// More than one, since the broker can still have an older name: a process that died before it led
/// has written none there.
constexpr std::size_t kHoldersKept = 8;
constexpr std::size_t kMaxSize = 64 << 10;

core::Error holder_error(const std::filesystem::path& file, const std::string& why) {
  return {core::ErrorCode::kInternalError, "file " + file.string() + ": " + why, ""};
}

/// Identifies this file in this boot of this machine, so that a copy is not mistaken for it. The
/// inode number is not reused while the file is open. Empty if the system does not provide it.
std::string place_of(int descriptor) {
  std::ifstream boot_file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  struct stat status {};
  if (!std::getline(boot_file, boot) || ::fstat(descriptor, &status) != 0) return {};
  return boot + " " + std::to_string(status.st_dev) + " " + std::to_string(status.st_ino);
}

std::vector<std::string> read_holders(int descriptor, const std::string& place) {
  std::string text(kMaxSize, '\0');
  ssize_t size = ::pread(descriptor, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  json content = json::parse(text, nullptr, false);
  if (place.empty() || !content.is_object() || content.value("place", json()) != place) return {};
  std::vector<std::string> holders;
  for (const auto& holder : content.value("holders", json::array()))
    if (holder.is_string()) holders.push_back(holder.get<std::string>());
  return holders;
}

bool write_holders(int descriptor, const std::string& place,
                   const std::vector<std::string>& holders) {
  std::string text = json{{"place", place}, {"holders", holders}}.dump() + "\n";
  return ::ftruncate(descriptor, 0) == 0 &&
         ::pwrite(descriptor, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

}  // namespace

core::Result<HolderFile> HolderFile::open(const std::filesystem::path& file,
                                          const std::string& holder) {
  core::FileDescriptor opened(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!opened.is_open()) return holder_error(file, std::strerror(errno));
  if (::flock(opened.get(), LOCK_EX | LOCK_NB) != 0) {
    return holder_error(file, errno == EWOULDBLOCK ? "another manager of this directory has it"
                                                   : std::strerror(errno));
  }
  auto place = place_of(opened.get());
  const auto former = read_holders(opened.get(), place);
  auto holders = former;
  holders.push_back(holder);
  if (holders.size() > kHoldersKept)
    holders.erase(holders.begin(), holders.end() - static_cast<std::ptrdiff_t>(kHoldersKept));
  if (!write_holders(opened.get(), place, holders)) return holder_error(file, std::strerror(errno));
  return HolderFile(std::move(opened), former);
}

}  // namespace league::league_manager::standby
