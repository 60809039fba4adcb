#include "common/audit/log/packed_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

namespace league::audit::log {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackedEnding = ".gz";

std::optional<std::string> content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return std::nullopt;
  std::string text(static_cast<std::size_t>(file.tellg()), '\0');
  file.seekg(0);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file) return std::nullopt;
  return text;
}

core::Error failed(std::string_view what, const fs::path& path) {
  return {core::ErrorCode::kInternalError,
          "conversation log " + path.string() + ": " + std::string(what) +
              " failed: " + std::generic_category().message(errno),
          {}};
}

}  // namespace

fs::path packed_path(const fs::path& segment) {
  fs::path path = segment;
  return path += kPackedEnding;
}

fs::path present_path(const fs::path& segment) {
  std::error_code ignored;
  if (segment.extension() == kPackedEnding || fs::exists(segment, ignored)) return segment;
  fs::path packed = packed_path(segment);
  return fs::exists(packed, ignored) ? packed : segment;
}

std::optional<std::string> read_log_file(const fs::path& path) {
  if (path.extension() != kPackedEnding) {
    if (auto content = content_of(path)) return content;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return std::nullopt;
    return path.extension() == ".jsonl" ? read_log_file(packed_path(path)) : std::nullopt;
  }
  auto packed = content_of(path);
  if (!packed || packed->size() > kLongestPacked) return std::nullopt;
  auto content = core::decompress(*packed, kLongestPacked);
  if (!content) return std::nullopt;
  return std::move(*content);
}

core::Result<std::unique_ptr<SegmentPacker>> SegmentPacker::begin(fs::path segment) {
  core::FileDescriptor in(::open(segment.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!in.is_open()) return failed("reading", segment);
  auto packed = core::DraftFile::create(packed_path(segment), {.mode = 0640});
  if (!packed) return packed.error();
  return std::unique_ptr<SegmentPacker>(
      new SegmentPacker(std::move(segment), std::move(in), std::move(*packed)));
}

core::Result<bool> SegmentPacker::step(std::size_t bytes) {
  std::string buffer(bytes, '\0');
  ssize_t size = 0;
  do {
    size = ::read(in_.get(), buffer.data(), buffer.size());
  } while (size < 0 && errno == EINTR);
  if (size < 0) return failed("reading", segment_);
  std::string packed;
  if (size > 0) {
    compressor_.add(std::string_view(buffer).substr(0, static_cast<std::size_t>(size)), packed);
  } else {
    compressor_.end(packed);
  }
  if (auto written = packed_.write(packed); !written) return written.error();
  if (size > 0) return false;
  if (auto done = packed_.commit(core::Flush::kNow); !done) return done.error();
  if (::unlink(segment_.c_str()) != 0) return failed("removing", segment_);
  return true;
}

}  // namespace league::audit::log
