#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "common/core/compression.h"
#include "common/core/draft_file.h"
#include "common/core/file_descriptor.h"
#include "common/core/result.h"

namespace league::audit::log {

/// The maximum size of the content of a compressed log file, so that a stranger's file fits into
/// memory.
inline constexpr std::size_t kLongestPacked = std::size_t{1} << 30;

/// `P01.log.000001.jsonl.gz` for `P01.log.000001.jsonl`: the path of a compressed segment.
[[nodiscard]] std::filesystem::path packed_path(const std::filesystem::path& segment);
/// The existing file of a segment: `segment` itself, otherwise the compressed one. If both exist, a
/// program was killed between creating one and removing the other.
[[nodiscard]] std::filesystem::path present_path(const std::filesystem::path& segment);

/// The content of the log file at `path`, decompressed where it ends with `.gz`; where `path` is
/// gone, that of the compressed file in its place. A compressed file is one whole gzip member of at
/// most kLongestPacked bytes. Nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_log_file(const std::filesystem::path& path);

/// Compresses a closed segment in steps, so that its thread can do other work in between. The
/// compressed file appears as a whole, and only then is the segment removed: a kill at any moment
/// leaves one of them or both. If destroyed earlier, it leaves the segment unchanged. Not
/// thread-safe.
class SegmentPacker {
 public:
  /// Fails if `segment` cannot be read or nothing can be written beside it.
  [[nodiscard]] static core::Result<std::unique_ptr<SegmentPacker>> begin(
      std::filesystem::path segment);

  /// Compresses the next `bytes` of the segment; true when it is finished, also after a failure, as
  /// on a full disk.
  [[nodiscard]] core::Result<bool> step(std::size_t bytes);

 private:
  SegmentPacker(std::filesystem::path segment, core::FileDescriptor in, core::DraftFile packed)
      : segment_(std::move(segment)), in_(std::move(in)), packed_(std::move(packed)) {}

  std::filesystem::path segment_;
  core::FileDescriptor in_;
  core::DraftFile packed_;
  core::Compressor compressor_;
};

}  // namespace league::audit::log
