#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace league::transport {

/// Cuts a stream of bytes into lines. LF and CRLF end one; lines of nothing but blanks are passed
/// over. Holds at most one line beside what was appended last. Not thread-safe.
class LineSplitter {
 public:
  /// A line of more than `max_line` bytes, without its end, is a fault.
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole line without its end; nothing when more bytes are needed, or at a fault.
  [[nodiscard]] std::optional<std::string> next();
  /// At the end of the stream: what stands after the last line's end, if it is a line.
  [[nodiscard]] std::optional<std::string> rest();

  /// A line was too long. Nothing comes any more.
  [[nodiscard]] bool is_faulty() const { return is_faulty_; }
  /// A line has begun and not ended. Right after next() said that more bytes are needed.
  [[nodiscard]] bool has_partial() const { return begin_ < buffer_.size(); }
  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - begin_; }

 private:
  std::size_t max_line_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the line that comes next
  std::size_t scanned_ = 0;  ///< no line ends before this
  bool is_faulty_ = false;
};

}  // namespace league::transport
