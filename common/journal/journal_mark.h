#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/core/crypto.h"
#include "common/journal/journal.h"

namespace league::journal {

/// An entry of a journal, and with its digest all entries before it.
struct JournalPosition {
  std::uint64_t sequence = 0;
  core::Digest digest{};

  bool operator==(const JournalPosition&) const = default;
};

/// The digest of an entry: SHA-256 of (digest of the entry before, type, newline, payload). Before
/// the first entry stands a digest of zeros.
[[nodiscard]] core::Digest chained(const core::Digest& before, const EventRecord& record);

/// A small file that names the last entry that was durable: the high-water mark of a journal. It is
/// written after each commit and never flushed, so it may name an earlier entry, but none that the
/// journal's disk has not confirmed: a journal that lacks it has lost entries. Not thread-safe.
class JournalMark {
 public:
  /// The file is made by the first `write`.
  explicit JournalMark(std::filesystem::path file) : file_(std::move(file)) {}
  ~JournalMark();
  JournalMark(const JournalMark&) = delete;
  JournalMark& operator=(const JournalMark&) = delete;

  /// A mark that cannot be written stays as it is: it then claims less than it could.
  void write(const JournalPosition& place);
  /// What the file says; nothing if it is missing, empty or damaged.
  [[nodiscard]] static std::optional<JournalPosition> read(const std::filesystem::path& file);

 private:
  const std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace league::journal
