#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "common/transport/http/http_options.h"
#include "common/transport/http/http_refusal.h"

namespace league::transport::front {

/// What the scanner has found in the head of a request; the numbers are positions in its bytes.
struct ScannedHead {
  struct Field {
    std::size_t name = 0;
    std::size_t name_size = 0;
    std::size_t value = 0;  ///< without the blanks around it
    std::size_t value_size = 0;
  };
  std::vector<Field> fields;
  std::size_t target = 0;
  std::size_t target_size = 0;
  std::size_t body = 0;  ///< where the body begins
  /// A POST of HTTP/1.1 with the body's length that keeps its connection, and has nothing that
  /// httplib would read in another way (percent signs, empty or very long fields).
  bool is_plain_post = false;
};

/// Finds where one HTTP request ends in bytes that arrive in pieces, and refuses what is malformed,
/// too large or ambiguous before a parser sees it. It remembers how far it has come, so that a peer
/// that sends its request in tiny pieces causes no extra work. Not thread-safe: one per connection.
class RequestScanner {
 public:
  enum class State { kIncomplete, kComplete, kRefused };

  explicit RequestScanner(const http::HttpLimits& limits) : limits_(&limits) {}

  /// Examines everything received since the beginning of the request; between two calls `received`
  /// may only grow.
  State scan(std::string_view received);
  /// The bytes of the complete request.
  [[nodiscard]] std::size_t length() const { return cursor_; }
  [[nodiscard]] const http::HttpRefusal& refusal() const { return *refusal_; }
  /// True once when the peer waits for `100 Continue` before it sends its body.
  [[nodiscard]] bool take_continue();
  /// Where the names of header fields begin that httplib must not see: Range, on which it would run
  /// a recursive regular expression. Ranges are not served, so the field may be ignored.
  [[nodiscard]] const std::vector<std::size_t>& ignored_fields() const { return ignored_fields_; }
  /// Of the complete request.
  [[nodiscard]] const ScannedHead& head() const { return head_; }
  /// Forgets the request; the next one begins.
  void reset();

 private:
  enum class Part { kHead, kSizedBody, kChunkSize, kChunkData, kChunkEnd, kLastLine };

  State refuse(int status, std::string_view text);
  bool reject(int status, std::string_view text);  ///< the same; returns false
  State scan_head(std::string_view received);
  bool read_request_line(std::string_view line);
  bool read_header(std::string_view line, std::size_t position);
  bool read_known_header(std::string_view name, std::string_view value);
  bool read_content_length(std::string_view value);
  State begin_body(std::size_t head_length);
  State scan_sized(std::string_view received);
  State scan_chunks(std::string_view received);
  /// One step over a chunked body: nothing when it made progress and should be called again.
  std::optional<State> step_chunk(std::string_view received);
  std::optional<State> read_chunk_size(std::string_view received);
  std::optional<State> expect_line_end(std::string_view received, Part next);

  const http::HttpLimits* limits_;
  Part part_ = Part::kHead;
  std::size_t searched_ = 0;  ///< of the head: it does not end before this position
  std::size_t cursor_ = 0;  ///< of the body: everything before this position is accepted
  std::size_t body_size_ = 0;  ///< so far, without the framing of chunks
  std::size_t chunk_left_ = 0;
  std::optional<std::size_t> content_length_;
  bool is_chunked_ = false;
  bool wants_continue_ = false;
  bool is_http_1_0_ = false;
  bool is_post_ = false;
  bool has_message_type_ = false;
  ScannedHead head_;
  std::vector<std::size_t> ignored_fields_;
  std::optional<http::HttpRefusal> refusal_;
};

}  // namespace league::transport::front
