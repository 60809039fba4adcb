#include "common/transport/line/line_splitter.h"

#include <algorithm>
#include <utility>

namespace league::transport::line {
namespace {

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

void LineSplitter::begin_skipping() {
  skipped_.emplace();
  scanned_ = begin_;
}

/// False while the end of the skipped line has not arrived.
bool LineSplitter::skip() {
  auto end = buffer_.find('\n', begin_);
  bool is_whole = end != std::string::npos;
  skipped_->add(std::string_view(buffer_).substr(begin_, is_whole ? end - begin_ : end));
  buffer_.erase(0, is_whole ? end + 1 : buffer_.size());
  begin_ = scanned_ = 0;
  return is_whole;
}

std::optional<rpc::FramePeek> LineSplitter::take_skipped() {
  if (!std::exchange(is_skipped_whole_, false)) return std::nullopt;
  auto peek = skipped_->peek();
  skipped_.reset();
  return peek;
}

std::optional<std::string> LineSplitter::next() {
  if (skipped_) {
    is_skipped_whole_ = is_skipped_whole_ || skip();
    return std::nullopt;
  }
  for (;;) {
    auto end = buffer_.find('\n', scanned_);
    if (end == std::string::npos) break;
    std::string_view line(buffer_.data() + begin_, end - begin_);
    const auto begin = std::exchange(begin_, end + 1);
    scanned_ = begin_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > max_line_) {
      begin_ = begin;
      begin_skipping();
      is_skipped_whole_ = skip();
      return std::nullopt;
    }
    if (!is_blank_line(line)) return std::string(line);
  }
  // One more byte is allowed: it may be the CR of a CRLF.
  if (buffered() > max_line_ + 1) {
    begin_skipping();
    is_skipped_whole_ = skip();
    return std::nullopt;
  }
  buffer_.erase(0, begin_);
  begin_ = 0;
  scanned_ = buffer_.size();
  return std::nullopt;
}

std::optional<std::string> LineSplitter::rest() {
  if (skipped_) {
    is_skipped_whole_ = true;
    return std::nullopt;
  }
  if (is_blank_line(std::string_view(buffer_).substr(begin_))) return std::nullopt;
  std::string line = buffer_.substr(begin_);
  buffer_.clear();
  begin_ = scanned_ = 0;
  if (line.ends_with('\r')) line.pop_back();
  if (line.size() <= max_line_) return line;
  skipped_.emplace();
  skipped_->add(line);
  is_skipped_whole_ = true;
  return std::nullopt;
}

}  // namespace league::transport::line
