#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/rpc/frame_skeleton.h"

namespace league::transport {

/// Cuts a stream of bytes into lines. LF and CRLF end one; lines of nothing but blanks are passed
/// over. Holds at most one line beside what was appended last. Not thread-safe.
class LineSplitter {
 public:
  /// A line of more than `max_line` bytes, without its end, is a fault, or passed over.
  explicit LineSplitter(std::size_t max_line, bool skips_long_lines = false)
      : max_line_(max_line), skips_long_lines_(skips_long_lines) {}

  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole line without its end; nothing when more bytes are needed, at a fault, or where
  /// a line was passed over.
  [[nodiscard]] std::optional<std::string> next();
  /// After next() has given nothing: the line that was passed over just now, if one was; call next
  /// again then.
  [[nodiscard]] std::optional<rpc::FramePeek> take_skipped();
  /// At the end of the stream: what stands after the last line's end, if it is a line.
  [[nodiscard]] std::optional<std::string> rest();

  /// A line was too long. Nothing comes any more.
  [[nodiscard]] bool is_faulty() const { return is_faulty_; }
  /// A line has begun and not ended. Right after next() said that more bytes are needed.
  [[nodiscard]] bool has_partial() const { return skipped_ || begin_ < buffer_.size(); }
  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - begin_; }

 private:
  [[nodiscard]] bool skip();
  void begin_skipping();

  std::size_t max_line_;
  bool skips_long_lines_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the line that comes next
  std::size_t scanned_ = 0;  ///< no line ends before this
  bool is_faulty_ = false;
  std::optional<rpc::FrameSkeleton> skipped_;  ///< of a line that is being passed over
  bool is_skipped_whole_ = false;  ///< its end is here
};

}  // namespace league::transport
