#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"

namespace league::transport {

/// Status and header fields of an answer.
struct ResponseHead {
  int status = 0;
  std::shared_ptr<const rpc::HeaderMap> headers;

  /// Of the content type, in lower case and without parameters; empty where there is none.
  [[nodiscard]] std::string media_type() const;
};

/// Takes the parts of one answer as they are read.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void on_head(const ResponseHead& head) = 0;
  /// A piece of the body, without the marks of its transfer coding.
  virtual void on_body(std::string_view piece) = 0;
};

/// Reads one HTTP/1 response from bytes in any pieces. Interim answers (1xx) are skipped; one that
/// switches protocols, and whatever is no response, is a fault. Not thread-safe.
class ResponseReader {
 public:
  /// `max_head` bounds what is held at once: the head, or the frame of a chunk.
  explicit ResponseReader(std::size_t max_head);
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  /// Reads on; nothing is read past the answer's end. False on a fault.
  bool feed(std::string_view bytes, ResponseSink& sink);
  /// The peer will send no more. False when the answer is cut off by that.
  bool finish();

  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool is_done() const;
  /// Once done: the connection serves another request.
  [[nodiscard]] bool keeps_connection() const;
  /// Once done: what came behind the answer.
  [[nodiscard]] std::string take_rest() { return std::move(held_); }
  /// Empty while all is well.
  [[nodiscard]] const std::string& fault() const;

 private:
  class Parser;
  bool parse(ResponseSink& sink);

  std::size_t max_head_;
  std::unique_ptr<Parser> parser_;
  std::string held_;
  std::string fault_;
};

}  // namespace league::transport
