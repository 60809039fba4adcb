#include "common/transport/front/request_scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string>

#include "common/core/text.h"
#include "common/transport/http/edge_rules.h"
#include "common/transport/link/media_type.h"

namespace league::transport::front {

namespace {

constexpr std::string_view kHeadEnd = "\r\n\r\n";
constexpr std::size_t kMaxChunkLine = 64;

bool is_tchar(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_tchar);
}

/// Whether httplib reads the field as it stands, and it asks for nothing: see
/// ScannedHead::is_plain_post.
bool is_plain_field(std::string_view name, std::string_view value) {
  constexpr std::size_t kLongest = 4096;
  for (std::string_view special : {"transfer-encoding", "expect", "range", "upgrade"}) {
    if (core::equals_ignoring_case(name, special)) return false;
  }
  if (core::equals_ignoring_case(name, "connection"))
    return core::equals_ignoring_case(value, "keep-alive");
  return !value.empty() && value.size() < kLongest && value.find('%') == value.npos;
}

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return (c < ' ' && c != '\t') || c == 127; });
}

}  // namespace

RequestScanner::State RequestScanner::scan(std::string_view received) {
  if (refusal_) return State::kRefused;
  if (part_ == Part::kHead) {
    State head = scan_head(received);
    if (head == State::kRefused || part_ == Part::kHead) return head;
  }
  return part_ == Part::kSizedBody ? scan_sized(received) : scan_chunks(received);
}

void RequestScanner::reset() { *this = RequestScanner(*limits_); }

bool RequestScanner::take_continue() {
  bool wants = wants_continue_ && part_ != Part::kHead;
  if (wants) wants_continue_ = false;
  return wants;
}

RequestScanner::State RequestScanner::refuse(int status, std::string_view text) {
  refusal_ = http::HttpRefusal{status, std::string(text)};
  return State::kRefused;
}

bool RequestScanner::reject(int status, std::string_view text) {
  refuse(status, text);
  return false;
}

RequestScanner::State RequestScanner::scan_head(std::string_view received) {
  std::size_t end = received.find(kHeadEnd, searched_);
  if (end == std::string_view::npos ? received.size() > limits_->max_head
                                    : end + kHeadEnd.size() > limits_->max_head) {
    return refuse(
        431, "the request head is larger than " + std::to_string(limits_->max_head) + " bytes");
  }
  if (end == std::string_view::npos) {
    searched_ = received.size() < kHeadEnd.size() ? 0 : received.size() - kHeadEnd.size() + 1;
    return State::kIncomplete;
  }
  std::string_view head = received.substr(0, end);
  bool is_first = true;
  while (!head.empty() || is_first) {
    std::size_t line_end = std::min(head.find("\r\n"), head.size());
    std::string_view line = head.substr(0, line_end);
    const auto position = static_cast<std::size_t>(line.data() - received.data());
    head.remove_prefix(std::min(line_end + 2, head.size()));
    if (!(is_first ? read_request_line(line) : read_header(line, position))) return State::kRefused;
    is_first = false;
  }
  return begin_body(end + kHeadEnd.size());
}

bool RequestScanner::read_request_line(std::string_view line) {
  std::size_t first = line.find(' ');
  std::size_t last = line.rfind(' ');
  if (has_control_character(line) || first == std::string_view::npos || last <= first + 1 ||
      line.substr(first + 1, last - first - 1).find(' ') != std::string_view::npos ||
      !is_token(line.substr(0, first))) {
    return reject(400, "malformed request line: expected METHOD target HTTP/1.1");
  }
  head_.target = first + 1;
  head_.target_size = last - first - 1;
  std::string_view version = line.substr(last + 1);
  is_http_1_0_ = version == "HTTP/1.0";
  is_post_ = line.substr(0, first) == "POST";
  head_.is_plain_post = is_post_ && version == "HTTP/1.1";
  if (version == "HTTP/1.1" || version == "HTTP/1.0") return true;
  return reject(version.starts_with("HTTP/") ? 505 : 400, "only HTTP/1.1 and HTTP/1.0 are served");
}

bool RequestScanner::read_header(std::string_view line, std::size_t position) {
  std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon)) ||
      has_control_character(line)) {
    return reject(400, "malformed header line: expected Name: value on one line");
  }
  if (core::equals_ignoring_case(line.substr(0, colon), "range"))
    ignored_fields_.push_back(position);
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = link::trim_blanks(line.substr(colon + 1));
  const auto before_value = static_cast<std::size_t>(value.data() - line.data());
  head_.fields.push_back({position, name.size(), position + before_value, value.size()});
  head_.is_plain_post = head_.is_plain_post && is_plain_field(name, value);
  return read_known_header(name, value);
}

bool RequestScanner::read_known_header(std::string_view name, std::string_view value) {
  if (core::equals_ignoring_case(name, "content-length")) return read_content_length(value);
  if (core::equals_ignoring_case(name, "transfer-encoding")) {
    if (is_chunked_ || !core::equals_ignoring_case(value, "chunked")) {
      return reject(501, "the only transfer encoding served is a single chunked");
    }
    is_chunked_ = true;
  } else if (core::equals_ignoring_case(name, "content-encoding")) {
    if (!core::equals_ignoring_case(value, "identity")) {
      return reject(415, "an encoded body is not accepted: send it without Content-Encoding");
    }
  } else if (core::equals_ignoring_case(name, "content-type")) {
    has_message_type_ = http::is_message_type(value);
  } else if (core::equals_ignoring_case(name, "expect")) {
    if (!core::equals_ignoring_case(value, "100-continue")) {
      return reject(417, "the only expectation served is 100-continue");
    }
    wants_continue_ = true;
  }
  return true;
}

bool RequestScanner::read_content_length(std::string_view value) {
  std::size_t length = 0;
  auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), length);
  bool is_number =
      !value.empty() && end == value.data() + value.size() && fault != std::errc::invalid_argument;
  if (!is_number || content_length_) {
    return reject(400,
                  is_number ? "Content-Length is given twice" : "Content-Length must be a number");
  }
  content_length_ = fault == std::errc{} ? length : static_cast<std::size_t>(-1);
  return true;
}

RequestScanner::State RequestScanner::begin_body(std::size_t head_length) {
  if (is_chunked_ && content_length_) {
    return refuse(400, "Content-Length and Transfer-Encoding exclude each other");
  }
  cursor_ = head_length;
  head_.body = head_length;
  head_.is_plain_post = head_.is_plain_post && content_length_.has_value();
  body_size_ = content_length_.value_or(0);
  if (body_size_ > limits_->max_body) {
    return refuse(413, "the body is larger than " + std::to_string(limits_->max_body) + " bytes");
  }
  // A client of HTTP/1.0 does not know the status 100 (RFC 9110 §10.1.1).
  if (is_http_1_0_) wants_continue_ = false;
  // Whoever waits to be asked for a body is told at once that its type is refused.
  if (wants_continue_ && is_post_ && !has_message_type_) {
    refusal_ = http::wrong_content_type();
    return State::kRefused;
  }
  part_ = is_chunked_ ? Part::kChunkSize : Part::kSizedBody;
  return State::kIncomplete;
}

RequestScanner::State RequestScanner::scan_sized(std::string_view received) {
  if (received.size() < cursor_ + body_size_) return State::kIncomplete;
  cursor_ += body_size_;
  body_size_ = 0;
  return State::kComplete;
}

RequestScanner::State RequestScanner::scan_chunks(std::string_view received) {
  for (;;) {
    if (auto state = step_chunk(received)) return *state;
  }
}

std::optional<RequestScanner::State> RequestScanner::step_chunk(std::string_view received) {
  switch (part_) {
    case Part::kChunkSize:
      return read_chunk_size(received);
    case Part::kChunkEnd:
      return expect_line_end(received, Part::kChunkSize);
    case Part::kLastLine:
      return expect_line_end(received, Part::kLastLine);
    default:
      break;
  }
  std::size_t taken = std::min(chunk_left_, received.size() - cursor_);
  cursor_ += taken;
  chunk_left_ -= taken;
  if (chunk_left_ > 0) return State::kIncomplete;
  part_ = Part::kChunkEnd;
  return std::nullopt;
}

std::optional<RequestScanner::State> RequestScanner::read_chunk_size(std::string_view received) {
  std::string_view rest = received.substr(cursor_);
  std::size_t end = rest.find("\r\n");
  if (std::min(end, rest.size()) > kMaxChunkLine)
    return refuse(400, "a chunk's size line is too long");
  if (end == std::string_view::npos) return State::kIncomplete;
  std::string_view line = rest.substr(0, end);
  std::string_view digits = link::trim_blanks(line.substr(0, line.find(';')));
  std::size_t size = 0;
  auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
  if (fault == std::errc::invalid_argument || stop != digits.data() + digits.size() ||
      has_control_character(line)) {
    return refuse(400, "a chunk's size must be a hexadecimal number");
  }
  if (fault != std::errc{} || size > limits_->max_body - body_size_) {
    return refuse(413, "the body is larger than " + std::to_string(limits_->max_body) + " bytes");
  }
  cursor_ += end + 2;
  body_size_ += size;
  chunk_left_ = size;
  part_ = size == 0 ? Part::kLastLine : Part::kChunkData;
  return std::nullopt;
}

std::optional<RequestScanner::State> RequestScanner::expect_line_end(std::string_view received,
                                                                     Part next) {
  std::string_view rest = received.substr(cursor_, 2);
  if (rest != std::string_view("\r\n").substr(0, rest.size())) {
    return refuse(400, part_ == Part::kLastLine ? "trailers are not served"
                                                : "a chunk is longer than its size says");
  }
  if (rest.size() < 2) return State::kIncomplete;
  cursor_ += 2;
  if (part_ == Part::kLastLine) return State::kComplete;
  part_ = next;
  return std::nullopt;
}

}  // namespace league::transport::front
