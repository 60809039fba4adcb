#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "common/core/result.h"

namespace league::core {

/// An instant in UTC with microseconds. Source: protocol §3.
class UtcTimestamp {
 public:
  using TimePoint = std::chrono::sys_time<std::chrono::microseconds>;

  UtcTimestamp() = default;
  explicit UtcTimestamp(TimePoint instant) : instant_(instant) {}

  /// Reads every form that protocol §3 accepts (`2025-01-15T10:30:00Z`, `20250115T10:30:00Z`,
  /// `20250115T103000Z`, each with a fraction of 1-9 digits, each with `+00:00` for `Z`). Digits of
  /// a fraction beyond the sixth are dropped. Fails with kInvalidTimestamp and a text that says
  /// which part is wrong.
  [[nodiscard]] static Result<UtcTimestamp> parse(std::string_view text);

  /// The form that we send: `2025-01-15T10:30:00Z`.
  [[nodiscard]] std::string to_wire() const;
  /// The form that we log: `2025-01-15T10:30:00.123456Z`.
  [[nodiscard]] std::string to_log() const;
  /// Appends to_log() to `out`.
  void append_log(std::string& out) const;

  [[nodiscard]] TimePoint instant() const { return instant_; }
  /// The instant `delay` later.
  [[nodiscard]] UtcTimestamp after(std::chrono::microseconds delay) const {
    return UtcTimestamp(instant_ + delay);
  }

  auto operator<=>(const UtcTimestamp&) const =
      default;  // NOLINT(modernize-use-nullptr): there is none

 private:
  TimePoint instant_{};
};

}  // namespace league::core
