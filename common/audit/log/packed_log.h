#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "common/core/result.h"

namespace league::audit {

/// A compressed log file has no more content than that, so that one of a stranger fits into memory.
inline constexpr std::size_t kLongestPacked = std::size_t{1} << 30;

/// `P01.log.000001.jsonl.gz` for `P01.log.000001.jsonl`: where a closed segment is when it has been
/// compressed.
[[nodiscard]] std::filesystem::path packed_path(const std::filesystem::path& segment);
/// The file of a segment that is there: `segment` itself, else the compressed one. Where both are,
/// a program was killed between making the one and removing the other.
[[nodiscard]] std::filesystem::path present_path(const std::filesystem::path& segment);

/// The content of the log file at `path`, decompressed where it ends with `.gz`; where `path` is
/// gone, that of the compressed file in its place. A compressed file is one whole gzip member of at
/// most kLongestPacked bytes. Nothing if it cannot be read.
[[nodiscard]] std::optional<std::string> read_log_file(const std::filesystem::path& path);

/// Compresses a closed segment bit by bit, so that its thread can do other work in between.
/// The compressed file appears whole, and only then the segment goes: a kill at any moment leaves
/// one of them or both. Ended before, it leaves the segment as it was. Not thread-safe.
class SegmentPacker {
 public:
  /// Fails if `segment` cannot be read or nothing can be written beside it.
  [[nodiscard]] static core::Result<std::unique_ptr<SegmentPacker>> begin(
      std::filesystem::path segment);
  ~SegmentPacker();
  SegmentPacker(const SegmentPacker&) = delete;
  SegmentPacker& operator=(const SegmentPacker&) = delete;

  /// Compresses the next `bytes` of the segment; true when all is done. After a failure, as on a
  /// full disk, there is nothing more to do.
  [[nodiscard]] core::Result<bool> step(std::size_t bytes);

 private:
  struct State;
  explicit SegmentPacker(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace league::audit
