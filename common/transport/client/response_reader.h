#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"

namespace league::transport::client {

/// Status and header fields of an answer.
struct ResponseHead {
  int status = 0;
  std::shared_ptr<const rpc::HeaderMap> headers;

  /// Of the content type, in lower case and without parameters; empty where there is none.
  [[nodiscard]] std::string media_type() const;
};

/// Receives the parts of one answer as they are read.
class ResponseSink {
 public:
  virtual ~ResponseSink() = default;
  virtual void on_head(const ResponseHead& head) = 0;
  /// A piece of the body, without the marks of its transfer coding.
  virtual void on_body(std::string_view piece) = 0;
};

/// Parses one HTTP/1 response from bytes in pieces of any size. Interim answers (1xx) are skipped;
/// a protocol switch, or anything that is not a response, is a fault. Not thread-safe.
class ResponseReader {
 public:
  /// `max_head` bounds what is held at once: the head, or the frame of a chunk.
  explicit ResponseReader(std::size_t max_head);
  ~ResponseReader();
  ResponseReader(const ResponseReader&) = delete;
  ResponseReader& operator=(const ResponseReader&) = delete;

  /// Parses more bytes, but none past the answer's end. False on a fault.
  bool feed(std::string_view bytes, ResponseSink& sink);
  /// The peer has closed its side. False if the answer is thereby cut off.
  bool finish();

  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] bool has_head() const;
  [[nodiscard]] bool is_done() const;
  /// Once done: whether the connection can serve another request.
  [[nodiscard]] bool keeps_connection() const;
  /// Once done: the bytes after the answer.
  [[nodiscard]] std::string take_rest() { return std::move(held_); }
  /// Empty while there is no fault.
  [[nodiscard]] const std::string& fault() const;

 private:
  class Parser;
  std::size_t max_head_;
  std::unique_ptr<Parser> parser_;
  bool has_exact_head_ = false;  ///< of the head at the beginning of `held_`, or already parsed
  std::string held_;
  std::string fault_;
};

}  // namespace league::transport::client
