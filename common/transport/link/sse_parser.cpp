#include "common/transport/link/sse_parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

namespace league::transport::link {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
/// Longer delays are useless, and sums with them must not overflow.
constexpr std::chrono::milliseconds kLongestRetry = std::chrono::hours(24);

}  // namespace

bool SseParser::feed(std::string_view bytes, const Sink& sink) {
  if (!fault_.empty()) return false;
  bytes = skip_mark(bytes);
  while (!bytes.empty()) {
    if (is_after_cr_) {
      is_after_cr_ = false;
      if (bytes.front() == '\n') {
        bytes.remove_prefix(1);
        continue;
      }
    }
    auto end = static_cast<std::size_t>(
        std::find_if(bytes.begin(), bytes.end(), [](char c) { return c == '\n' || c == '\r'; }) -
        bytes.begin());
    if (partial_.size() + end > limits_.max_line) {
      return fail("a line of the event stream is longer than " + std::to_string(limits_.max_line) +
                  " bytes");
    }
    if (end == bytes.size()) {
      partial_.append(bytes);
      return true;
    }
    is_after_cr_ = bytes[end] == '\r';
    if (!take_line(bytes.substr(0, end), sink)) return false;
    bytes.remove_prefix(end + 1);
  }
  return true;
}

/// Drops a byte order mark at the very beginning, which may come in pieces.
std::string_view SseParser::skip_mark(std::string_view bytes) {
  while (mark_seen_ < kByteOrderMark.size() && !bytes.empty()) {
    if (bytes.front() != kByteOrderMark[mark_seen_]) {
      partial_.assign(kByteOrderMark.substr(0, mark_seen_));  // not a mark: ordinary bytes
      mark_seen_ = kByteOrderMark.size();
      break;
    }
    ++mark_seen_;
    bytes.remove_prefix(1);
  }
  return bytes;
}

bool SseParser::take_line(std::string_view end_of_line, const Sink& sink) {
  if (partial_.empty()) return read_line(end_of_line, sink);
  partial_.append(end_of_line);
  std::string line = std::exchange(partial_, {});
  return read_line(line, sink);
}

bool SseParser::read_line(std::string_view line, const Sink& sink) {
  if (line.empty()) {
    dispatch(sink);
    return true;
  }
  auto colon = line.find(':');
  if (colon == 0) return true;  // a comment
  std::string_view value;
  if (colon != std::string_view::npos) {
    value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
  }
  return read_field(line.substr(0, colon), value);
}

bool SseParser::read_field(std::string_view name, std::string_view value) {
  if (name == "data") {
    if (event_.data.size() + value.size() + (has_data_ ? 1 : 0) > limits_.max_event) {
      return fail("an event of the stream is larger than " + std::to_string(limits_.max_event) +
                  " bytes");
    }
    if (has_data_) event_.data += '\n';
    event_.data.append(value);
    has_data_ = true;
  } else if (name == "event") {
    event_.type = value;
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) event_.id = id_buffer_ = value;
  } else if (name == "retry") {
    read_retry(value);
  }
  return true;
}

void SseParser::read_retry(std::string_view digits) {
  bool is_number = !digits.empty() && std::all_of(digits.begin(), digits.end(),
                                                  [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return;
  std::int64_t milliseconds = 0;
  auto read = std::from_chars(digits.data(), digits.data() + digits.size(), milliseconds);
  retry_ = read.ec == std::errc{} ? std::min(std::chrono::milliseconds(milliseconds), kLongestRetry)
                                  : kLongestRetry;
  event_.retry = retry_;
}

void SseParser::dispatch(const Sink& sink) {
  last_event_id_ = id_buffer_;
  SseEvent event = std::exchange(event_, {});
  if (!std::exchange(has_data_, false)) return;
  if (event.type.empty()) event.type = "message";
  sink(std::move(event));
}

bool SseParser::fail(std::string why) {
  fault_ = std::move(why);
  partial_ = {};
  event_ = {};
  return false;
}

}  // namespace league::transport::link
