#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace league::audit::record {

/// A text with the escapes of JSON strings removed at every depth at once, so that a search for a
/// key finds it in a message, in a message inside a string of a message, and so on. Each character
/// keeps its position in the raw text. If `raw` contains neither backslashes nor zero bytes, this
/// is only a view and costs nothing. `raw` must outlive this object.
class UnescapedText {
 public:
  explicit UnescapedText(std::string_view raw);

  [[nodiscard]] std::string_view chars() const { return plain_ ? raw_ : std::string_view(chars_); }
  /// The index in the raw text at which character `i` begins, escape included; its size for the
  /// end.
  [[nodiscard]] std::size_t position(std::size_t i) const { return plain_ ? i : positions_[i]; }
  /// White space, also as an escape (`\n`).
  [[nodiscard]] bool is_space(std::size_t i) const {
    char c = chars()[i];
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' ||
           (!plain_ && escapes_[i] == kSpaceEscape);
  }
  /// Whether the quote at `i` ends the string that the quote at `open` began.
  [[nodiscard]] bool closes(std::size_t open, std::size_t i) const;

 private:
  static constexpr std::uint16_t kSpaceEscape = 0xffff;

  void decode();
  std::size_t decode_escape(std::size_t i);
  std::size_t end_of_run(std::size_t i, std::size_t& backslashes) const;
  void add(char c, std::size_t position, std::size_t escapes);

  std::string_view raw_;
  bool plain_;
  std::string chars_;
  std::vector<std::uint32_t> positions_;
  std::vector<std::uint16_t> escapes_;  ///< of a quote: how many backslashes stand before it
};

}  // namespace league::audit::record
