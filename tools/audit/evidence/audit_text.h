#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/audit/log/log_reader.h"

namespace league::tools::auditor {

/// Writes text in colour for a terminal, plain otherwise. Immutable.
class Paint {
 public:
  explicit Paint(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string red(std::string_view text) const { return in("31", text); }
  [[nodiscard]] std::string yellow(std::string_view text) const { return in("33", text); }
  [[nodiscard]] std::string green(std::string_view text) const { return in("32", text); }
  [[nodiscard]] std::string dim(std::string_view text) const { return in("2", text); }
  [[nodiscard]] std::string bold(std::string_view text) const { return in("1", text); }

 private:
  [[nodiscard]] std::string in(std::string_view code, std::string_view text) const;
  bool colour_;
};

/// `text` with blanks up to `width` characters.
[[nodiscard]] std::string padded(std::string_view text, std::size_t width);
/// `12:34:56.123456` of an instant.
[[nodiscard]] std::string time_of_day(core::UtcTimestamp time);
/// `412 us`, `3.2 ms`, `2.00 s`.
[[nodiscard]] std::string duration_text(std::int64_t microseconds);
/// At most `limit` bytes of text from a peer; control characters become `?`, so that it cannot
/// manipulate the reader's terminal.
[[nodiscard]] std::string printable(std::string_view text, std::size_t limit);

/// A short summary of a body, such as `parity_choice=even` or `status=REJECTED reason=...`;
/// otherwise its beginning.
[[nodiscard]] std::string summarise(const audit::log::LogEntry& entry);

/// What a leniency means and how to do it right; empty for a name that is not known.
[[nodiscard]] std::string_view explain_leniency(std::string_view name);

/// The bytes of a file; empty if it cannot be read.
[[nodiscard]] std::string bytes_of(const std::filesystem::path& file);

/// `DIR/logs` if there is one, else DIR.
[[nodiscard]] std::filesystem::path logs_of(const std::filesystem::path& directory);

}  // namespace league::tools::auditor
