#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/crypto.h"
#include "common/core/timestamp.h"

namespace league::audit::record {

/// Stands in the place of the hash of a line before the first one.
inline constexpr std::string_view kNoLine =
    "0000000000000000000000000000000000000000000000000000000000000000";

/// The current end of a chain: the number of the last record and the hash of the last line.
struct LogHead {
  std::uint64_t seq = 0;
  std::string hash{kNoLine};
  bool operator==(const LogHead&) const = default;
};

/// Ties the lines of one log together: each ends with the hash of the line before it and its own.
/// Not thread-safe. Source: docs/audit.md, "The chain".
class LogChain {
 public:
  /// The line that begins at `begin` of `out` has all its facts; adds `,"prev":"…","hash":"…"}` and
  /// the line end.
  void close_line(std::size_t begin, std::string& out);
  /// The hash of the last line in hexadecimal.
  [[nodiscard]] const std::string& hash() const { return hash_; }
  /// The next line follows the one with this hash.
  void go_on_from(std::string hash) { hash_ = std::move(hash); }
  [[nodiscard]] core::Digest sha256(std::string_view text) { return sha256_(text); }

 private:
  std::string hash_{kNoLine};
  core::Sha256 sha256_;
};

/// A line of a chain, taken apart but not verified. Views of the line.
struct ChainedLine {
  std::string_view covered;  ///< what `hash` is the SHA-256 of
  std::string_view prev;
  std::string_view hash;
};
/// Nothing if `line`, without its line end, does not end as the lines of a chain do.
[[nodiscard]] std::optional<ChainedLine> chained_line(std::string_view line);

/// What a signed head says: everything up to record `seq`, the line with the hash `head`, was on
/// the disk at `time`.
struct Seal {
  std::string agent;
  std::uint64_t seq = 0;
  core::UtcTimestamp time;
  bool closed = false;  ///< nothing follows: the program ended properly
  std::string head;
  std::string signature;  ///< 128 hexadecimal digits; of signed_text()
};

/// The text whose Ed25519 signature a seal carries.
[[nodiscard]] std::string signed_text(const Seal& seal);
/// The content of the file beside a log that holds its newest seal.
[[nodiscard]] std::string seal_file_text(const Seal& seal, std::string_view public_key);

}  // namespace league::audit::record
