#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/core/crypto.h"
#include "common/core/file_descriptor.h"
#include "common/journal/journal.h"

namespace league::journal {

/// The position of an entry in a journal; its digest also covers all entries before it.
struct JournalPosition {
  std::uint64_t sequence = 0;
  core::Digest digest{};

  bool operator==(const JournalPosition&) const = default;
};

/// The digest of an entry: SHA-256 of (digest of the previous entry, type, newline, payload). The
/// first entry uses a digest of zeros as the previous one.
[[nodiscard]] core::Digest chained(const core::Digest& before, const EventRecord& record);

/// A small file that names the last durable entry: the high-water mark of a journal. It is written
/// after each commit but never flushed, so it can lag behind, but it never names an entry that was
/// not durable. A journal without that entry has therefore lost entries. Not thread-safe.
class JournalMark {
 public:
  /// The first `write` creates the file.
  explicit JournalMark(std::filesystem::path file) : file_(std::move(file)) {}

  /// If the mark cannot be written, the old one stays, which is still correct.
  void write(const JournalPosition& place);
  /// The content of the file; nothing if it is missing, empty or damaged.
  [[nodiscard]] static std::optional<JournalPosition> read(const std::filesystem::path& file);

 private:
  const std::filesystem::path file_;
  core::FileDescriptor descriptor_;
};

}  // namespace league::journal
