#include "common/transport/client/response_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/transport/link/media_type.h"

namespace league::transport::client {

namespace {

namespace http = boost::beast::http;
using BeastError = boost::beast::error_code;
using BeastText = boost::beast::string_view;

constexpr int kContinueCode = 100;
constexpr int kSwitchingProtocols = 101;

/// The length of the head at the beginning of `bytes`, with its empty line; 0 if it is incomplete.
std::size_t end_of_head(std::string_view bytes) {
  for (auto at = bytes.find('\n'); at != bytes.npos; at = bytes.find('\n', at + 1)) {
    const auto rest = bytes.substr(at + 1);
    if (rest.starts_with("\n")) return at + 2;
    if (rest.starts_with("\r\n")) return at + 3;
  }
  return 0;
}

/// Whether `bytes` may be the beginning of a head.
bool may_be_head(std::string_view bytes) {
  constexpr std::string_view kBegin = "HTTP/1.";
  return kBegin.starts_with(bytes.substr(0, kBegin.size()));
}

/// The head as Beast expects it: each line ends with CR LF, and the status line has the blank that
/// precedes the reason phrase. Small servers leave these out, and other clients accept that.
std::string exact_head(std::string_view head) {
  constexpr std::size_t kStatusLine = std::string_view("HTTP/1.1 200").size();
  std::string exact;
  while (!head.empty()) {
    const auto end = head.find('\n');
    auto line = head.substr(0, end);
    head.remove_prefix(std::min(end, head.size() - 1) + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const bool lacks_reason = exact.empty() && line.size() == kStatusLine;
    exact.append(line).append(lacks_reason ? " \r\n" : "\r\n");
  }
  return exact;
}

}  // namespace

std::string ResponseHead::media_type() const { return link::media_type_of(*headers); }

/// Forwards Beast's callbacks to the sink.
class ResponseReader::Parser final : public http::basic_parser<false> {
 public:
  explicit Parser(std::size_t max_head) {
    eager(true);
    header_limit(static_cast<std::uint32_t>(max_head));
    // The sinks have limits of their own. (Setting no limit at all makes Boost 1.74 refuse every
    // body with a length.)
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

  void aim(ResponseSink& sink) { sink_ = &sink; }
  [[nodiscard]] bool is_interim() const { return status_ < 200; }
  [[nodiscard]] int status() const { return status_; }
  /// Whether the header of a chunk comes next.
  [[nodiscard]] bool is_between_chunks() const {
    return is_header_done() && chunked() && left_of_chunk_ == 0;
  }

 private:
  void on_request_impl(http::verb /*method*/, BeastText /*name*/, BeastText /*target*/,
                       int /*version*/, BeastError& /*ec*/) override {}
  void on_response_impl(int code, BeastText /*reason*/, int /*version*/, BeastError& ec) override {
    // Beast accepts `000` as a status and would read the rest as its body.
    if (code < kContinueCode) ec = http::error::bad_status;
    status_ = code;
  }
  void on_field_impl(http::field /*field*/, BeastText name, BeastText value,
                     BeastError& /*ec*/) override {
    // After the head these are trailers, which are ignored.
    if (headers_) headers_->emplace(std::string(name), std::string(value));
  }
  void on_header_impl(BeastError& /*ec*/) override {
    auto headers = std::exchange(headers_, nullptr);
    if (!is_interim()) sink_->on_head({status_, std::move(headers)});
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/,
                         BeastError& /*ec*/) override {}
  std::size_t on_body_impl(BeastText body, BeastError& /*ec*/) override {
    sink_->on_body({body.data(), body.size()});
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t size, BeastText /*extensions*/,
                            BeastError& /*ec*/) override {
    left_of_chunk_ = size;
  }
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, BeastText body,
                                 BeastError& /*ec*/) override {
    sink_->on_body({body.data(), body.size()});
    left_of_chunk_ -= body.size();
    return body.size();
  }
  void on_finish_impl(BeastError& /*ec*/) override {}

  ResponseSink* sink_ = nullptr;
  int status_ = 0;
  std::uint64_t left_of_chunk_ = 0;
  std::shared_ptr<rpc::HeaderMap> headers_ = std::make_shared<rpc::HeaderMap>();
};

ResponseReader::ResponseReader(std::size_t max_head)
    : max_head_(max_head), parser_(std::make_unique<Parser>(max_head)) {}

ResponseReader::~ResponseReader() = default;

bool ResponseReader::feed(std::string_view bytes, ResponseSink& sink) {
  if (!fault_.empty()) return false;
  held_.append(bytes);
  while (!held_.empty() && !is_done()) {
    if (!has_exact_head_) {
      const auto end = end_of_head(held_);
      if (end == 0 && may_be_head(held_)) break;
      held_.replace(0, end, exact_head({held_.data(), end}));
      has_exact_head_ = true;
    }
    // Beast asserts that it sees at least this much of a last chunk, though it can arrive in
    // smaller pieces.
    constexpr std::size_t kShortestLastChunk = 5;
    if (parser_->is_between_chunks() && held_.size() < kShortestLastChunk) break;
    BeastError fault;
    parser_->aim(sink);
    std::size_t used = parser_->put(boost::asio::const_buffer(held_.data(), held_.size()), fault);
    held_.erase(0, used);
    if (fault && fault != http::error::need_more) {
      fault_ = "the answer is not a valid HTTP/1 response (" + fault.message() + ")";
      return false;
    }
    if (parser_->is_header_done() && parser_->is_interim()) {
      if (parser_->status() == kSwitchingProtocols) {
        fault_ = "the peer switched protocols without being asked";
        return false;
      }
      parser_ = std::make_unique<Parser>(max_head_);
      has_exact_head_ = false;
      continue;
    }
    if (used == 0) break;
  }
  if (held_.size() <= max_head_ || is_done()) return true;
  fault_ =
      "the answer has a head or chunk frame larger than " + std::to_string(max_head_) + " bytes";
  return false;
}

bool ResponseReader::finish() {
  if (is_done()) return true;
  if (!fault_.empty() || !parser_->is_header_done()) return false;
  BeastError fault;
  parser_->put_eof(fault);
  return !fault;
}

bool ResponseReader::has_begun() const { return parser_->got_some() || !held_.empty(); }
bool ResponseReader::has_head() const {
  return parser_->is_header_done() && !parser_->is_interim();
}
bool ResponseReader::is_done() const { return has_head() && parser_->is_done(); }
bool ResponseReader::keeps_connection() const {
  return is_done() && held_.empty() && parser_->keep_alive();
}
const std::string& ResponseReader::fault() const { return fault_; }

}  // namespace league::transport::client
