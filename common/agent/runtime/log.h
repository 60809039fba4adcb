#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

/// Functions for writing to the operations log; operations_log.h sets it up. Thread-safe.
namespace league::agent::runtime::log {

enum class Level : std::uint8_t { kInfo, kWarning, kError };

/// A text or a whole number.
class LogValue {
 public:
  LogValue(std::string text) : text_(std::move(text)) {}  // NOLINT(google-explicit-constructor)
  LogValue(std::string_view text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  LogValue(const char* text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  template <std::integral Number>
  LogValue(Number number) : text_(std::to_string(number)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Writes `form` with each `{}` replaced by the next of `parts`; without parts, unchanged.
void write(Level level, std::string_view form, std::initializer_list<LogValue> parts);
/// Writes what is buffered, including the counts of repeated warnings.
void flush();
/// The program's name as it was given when the log was set up.
[[nodiscard]] std::string program_name();

template <typename... Parts>
void info(std::string_view form, const Parts&... parts) {
  write(Level::kInfo, form, {LogValue(parts)...});
}
template <typename... Parts>
void warn(std::string_view form, const Parts&... parts) {
  write(Level::kWarning, form, {LogValue(parts)...});
}
template <typename... Parts>
void error(std::string_view form, const Parts&... parts) {
  write(Level::kError, form, {LogValue(parts)...});
}

}  // namespace league::agent::runtime::log
