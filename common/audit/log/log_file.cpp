#include "common/audit/log/log_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <system_error>
#include <utility>

#include "common/audit/log/log_lines.h"
#include "common/audit/log/log_segments.h"
#include "common/audit/log/packed_log.h"
#include "common/core/file_descriptor.h"
#include "common/core/text.h"

namespace league::audit::log {
namespace {

constexpr std::string_view kEnding = ".jsonl";

core::Error failed(std::string_view what, const std::filesystem::path& path, int error) {
  return {core::ErrorCode::kInternalError,
          "conversation log " + path.string() + ": " + std::string(what) +
              " failed: " + std::generic_category().message(error) +
              "; check the disk and the permissions of the directory",
          {}};
}

class DiskFile final : public LogFile {
 public:
  DiskFile(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}

  core::Result<std::size_t> write(std::string_view bytes) override {
    ssize_t written = -1;
    do {
      written = ::write(descriptor_.get(), bytes.data(), bytes.size());
    } while (written < 0 && errno == EINTR);
    if (written <= 0) return failed("writing", path_, written < 0 ? errno : ENOSPC);
    return static_cast<std::size_t>(written);
  }

  core::Result<void> sync() override {
    if (::fdatasync(descriptor_.get()) != 0) return failed("syncing", path_, errno);
    return {};
  }

 private:
  core::FileDescriptor descriptor_;
  std::filesystem::path path_;
};

std::filesystem::path draft_of(const std::filesystem::path& path) {
  std::filesystem::path draft = path;
  return draft += ".new";
}

/// Opens the spare file of the last replacement, if only we use it: neither a link, nor a file that
/// somebody has linked into a copy of the directory. -1: there is none.
int open_kept_draft(const std::filesystem::path& draft) {
  int descriptor = ::open(draft.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return -1;
  struct stat about {};
  bool is_ours = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                 about.st_nlink == 1 && about.st_uid == ::geteuid();
  if (is_ours) return descriptor;
  ::close(descriptor);
  return -1;
}

/// Overwrites the file in place: a file that is truncated first would be written to the disk when
/// it is closed (ext4, auto_da_alloc).
core::Result<void> write_draft(const std::filesystem::path& draft, std::string_view content) {
  std::error_code error;
  std::filesystem::create_directories(draft.parent_path(), error);
  if (error) return failed("making the directory", draft, error.value());
  int descriptor = open_kept_draft(draft);
  if (descriptor < 0) {
    ::unlink(draft.c_str());
    descriptor = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  }
  if (descriptor < 0) return failed("creating", draft, errno);
  DiskFile file(descriptor, draft);
  const auto size = static_cast<off_t>(content.size());
  while (!content.empty()) {
    auto written = file.write(content);
    if (!written) return written.error();
    content.remove_prefix(*written);
  }
  if (::ftruncate(descriptor, size) != 0) return failed("writing", draft, errno);
  return {};
}

class DiskFiles final : public LogFiles {
 public:
  core::Result<std::unique_ptr<LogFile>> create(const std::filesystem::path& path) override {
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) return failed("making the directory", path, error.value());
    int descriptor = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
    if (descriptor < 0) return failed("creating", path, errno);
    // For is_being_written(), as long as the file is open. Where a file system knows no locks
    // nobody is told.
    (void)::flock(descriptor, LOCK_EX | LOCK_NB);
    return std::unique_ptr<LogFile>(std::make_unique<DiskFile>(descriptor, path));
  }

  /// The draft is what the file was before last, and the two change places: a file system is slow
  /// at removing and making files, and the seals of a thousand agents would be two hundred a
  /// second.
  core::Result<void> replace(const std::filesystem::path& path, std::string_view content) override {
    const std::filesystem::path draft = draft_of(path);
    if (auto written = write_draft(draft, content); !written) return written;
    if (::renameat2(AT_FDCWD, draft.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0)
      return {};
    // There is none yet, or the file system cannot exchange.
    if (::rename(draft.c_str(), path.c_str()) != 0) return failed("replacing", path, errno);
    return {};
  }

  void end_replacing(const std::filesystem::path& path) override {
    std::error_code ignored;
    std::filesystem::remove(draft_of(path), ignored);
  }

  [[nodiscard]] std::uint64_t free_space(const std::filesystem::path& path) const override {
    std::filesystem::path directory = path.parent_path();
    struct statvfs space {};
    while (::statvfs(directory.empty() ? "." : directory.c_str(), &space) != 0) {
      if (errno != ENOENT || directory.empty() || directory == directory.parent_path()) return 0;
      directory = directory.parent_path();
    }
    return static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize;
  }
};

core::Result<std::filesystem::path> below(const std::filesystem::path& directory,
                                          std::string_view name, std::string_view file) {
  if (!is_safe_name(name)) {
    return core::Error{core::ErrorCode::kInvalidFieldValue,
                       "an id that names a log file has 1 to 128 letters, digits, `_` or `-`",
                       {}};
  }
  return directory / (std::string(name) + std::string(file));
}

std::string read_tail(const std::filesystem::path& path) {
  constexpr std::streamoff kSearched = 1 << 20;
  if (const auto present = present_path(path); present != path) {
    auto lines = LogLines::open(present);
    std::string tail;
    std::string_view line;
    while (lines && lines->next(line) == LogLines::Next::kLine) {
      tail.append(line) += '\n';
      if (tail.size() > 2 * kSearched) tail.erase(0, tail.size() - kSearched);
    }
    return tail.substr(tail.size() - std::min<std::size_t>(tail.size(), kSearched));
  }
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  std::streamoff size = file.tellg();
  std::streamoff from = std::max<std::streamoff>(0, size - kSearched);
  std::string tail(static_cast<std::size_t>(size - from), '\0');
  file.seekg(from);
  file.read(tail.data(), static_cast<std::streamsize>(tail.size()));
  return tail;
}

std::uint64_t number_at(std::string_view line, std::size_t at) {
  std::uint64_t number = 0;
  if (at < line.size()) std::from_chars(line.data() + at, line.data() + line.size(), number);
  return number;
}

/// The number of the record, or for a header of the one before it; nothing for a part of a line.
std::optional<std::uint64_t> seq_of(std::string_view line) {
  constexpr std::string_view kSeq = "{\"seq\":";
  constexpr std::string_view kFirst = "\"first_seq\":";
  if (line.starts_with(kSeq)) return number_at(line, kSeq.size());
  std::size_t first = line.find(kFirst);
  if (!line.starts_with("{\"format\":") || first == line.npos) return std::nullopt;
  return std::max<std::uint64_t>(1, number_at(line, first + kFirst.size())) - 1;
}

}  // namespace

bool is_being_written(const std::filesystem::path& path) {
  const core::FileDescriptor descriptor(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  return descriptor.is_open() && ::flock(descriptor.get(), LOCK_SH | LOCK_NB) != 0 &&
         errno == EWOULDBLOCK;
}

std::shared_ptr<LogFiles> disk_files() { return std::make_shared<DiskFiles>(); }

bool is_safe_name(std::string_view name) {
  return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
    return core::is_alphanumeric(c) || c == '_' || c == '-';
  });
}

core::Result<std::filesystem::path> agent_log_path(const std::filesystem::path& logs,
                                                   std::string_view id) {
  return below(logs / "agents", id, ".log.jsonl");
}

core::Result<std::filesystem::path> league_log_path(const std::filesystem::path& logs,
                                                    std::string_view league_id) {
  auto directory = below(logs / "league", league_id, "");
  if (!directory) return directory;
  return *directory / "league.log.jsonl";
}

std::filesystem::path segment_path(const std::filesystem::path& path, int number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), ".%06d", number);
  std::string name = path.filename().string();
  std::size_t stem = name.ends_with(kEnding) ? name.size() - kEnding.size() : name.size();
  return path.parent_path() / (name.substr(0, stem) + digits + name.substr(stem));
}

int last_segment(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  std::string stem = name.ends_with(kEnding) ? name.substr(0, name.size() - kEnding.size()) : name;
  int last = 0;
  std::error_code error;
  // A new name needs no look at all the others, of which there may be thousands.
  std::filesystem::path packed = segment_path(path, 1);
  packed += ".gz";
  const bool is_known = std::ranges::any_of(
      std::to_array({path, seal_path(path), segment_path(path, 1), packed}),
      [&error](const auto& one) { return std::filesystem::exists(one, error); });
  if (!is_known) return 0;
  for (std::filesystem::directory_iterator entry(path.parent_path(), error), end;
       !error && entry != end; entry.increment(error)) {
    std::string other = entry->path().filename().string();
    if (other.ends_with(".gz")) other.resize(other.size() - 3);
    if (!other.starts_with(stem + '.') || other.size() <= stem.size() + 6) continue;
    int number = 0;
    std::from_chars(other.data() + stem.size() + 1, other.data() + other.size(), number);
    if (number > 0 && segment_path(path, number).filename() == other) last = std::max(last, number);
  }
  return last;
}

std::filesystem::path seal_path(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(kLogEnding)) name.resize(name.size() - kLogEnding.size());
  return path.parent_path() / (name + ".seal.json");
}

std::optional<record::LogHead> log_end(const std::filesystem::path& path) {
  std::string tail = read_tail(path);
  std::string_view lines = tail;
  std::size_t end = lines.rfind('\n');
  std::optional<record::LogHead> found;
  while (end != lines.npos) {
    std::size_t begin = end == 0 ? lines.npos : lines.rfind('\n', end - 1);
    std::size_t first = begin == lines.npos ? 0 : begin + 1;
    std::string_view line = lines.substr(first, end - first);
    if (!found) {
      found.emplace();
      if (auto parts = record::chained_line(line)) found->hash = parts->hash;
    }
    if (auto seq = seq_of(line)) {
      found->seq = *seq;
      return found;
    }
    end = begin;
  }
  return found;
}

}  // namespace league::audit::log
