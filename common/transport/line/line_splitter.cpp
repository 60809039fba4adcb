#include "common/transport/line/line_splitter.h"

#include <algorithm>

namespace league::transport {
namespace {

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

std::optional<std::string> LineSplitter::next() {
  while (!is_faulty_) {
    auto end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) break;
    std::string_view line(buffer_.data() + begin_, end - begin_);
    begin_ = scanned_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > max_line_) {
      is_faulty_ = true;
      break;
    }
    if (!is_blank_line(line)) return std::string(line);
  }
  // One byte more is allowed for: it may be the CR of a CRLF.
  if (buffered() > max_line_ + 1) is_faulty_ = true;
  if (is_faulty_) {
    begin_ = buffer_.size();
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  scanned_ = buffer_.size();
  return std::nullopt;
}

std::optional<std::string> LineSplitter::rest() {
  if (is_faulty_ || is_blank_line(std::string_view(buffer_).substr(begin_))) return std::nullopt;
  std::string line = buffer_.substr(begin_);
  buffer_.clear();
  begin_ = scanned_ = 0;
  if (line.ends_with('\r')) line.pop_back();
  if (line.size() > max_line_) {
    is_faulty_ = true;
    return std::nullopt;
  }
  return line;
}

}  // namespace league::transport
