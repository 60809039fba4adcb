#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/rpc/frame_skeleton.h"

namespace league::transport::line {

/// Splits a stream of bytes into lines, which end with LF or CRLF; blank lines are skipped. Buffers
/// at most one line besides the bytes appended last. Not thread-safe.
class LineSplitter {
 public:
  /// A line of more than `max_line` bytes, not counting its end, is skipped.
  explicit LineSplitter(std::size_t max_line) : max_line_(max_line) {}

  void append(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole line without its end; nothing if more bytes are needed or a line was skipped.
  [[nodiscard]] std::optional<std::string> next();
  /// After next() or rest() has returned nothing: the line that was just skipped, if any; then call
  /// next again.
  [[nodiscard]] std::optional<rpc::FramePeek> take_skipped();
  /// At the end of the stream: the text after the last line's end, if it is a line.
  [[nodiscard]] std::optional<std::string> rest();

  /// Whether a line is incomplete. Only right after next() has asked for more bytes.
  [[nodiscard]] bool has_partial() const { return skipped_ || begin_ < buffer_.size(); }
  [[nodiscard]] std::size_t buffered() const { return buffer_.size() - begin_; }

 private:
  [[nodiscard]] bool skip();
  void begin_skipping();

  std::size_t max_line_;
  std::string buffer_;
  std::size_t begin_ = 0;  ///< of the line that comes next
  std::size_t scanned_ = 0;  ///< no line ends before this position
  std::optional<rpc::FrameSkeleton> skipped_;  ///< of the line that is being skipped
  bool is_skipped_whole_ = false;  ///< the end of the skipped line has arrived
};

}  // namespace league::transport::line
