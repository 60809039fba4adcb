#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "common/rpc/id.h"
#include "common/rpc/transport_context.h"
#include "common/transport/client/sse_parser.h"

namespace league::transport {

/// Finds the answer to one request in a stream of events, which may break off and be continued:
/// the response with the request's id, or, where that is null, the first one. Requests and
/// notifications of the server are passed over. Not thread-safe.
class EventAnswer {
 public:
  /// `id` outlives it. `max_bytes` bounds lines and events.
  EventAnswer(const rpc::Id& id, std::size_t max_bytes)
      : id_(id), limits_{max_bytes, max_bytes}, parser_(limits_) {}

  /// The stream is continued by another one.
  void begin_again();
  /// Reads on; false where the stream broke a limit (`fault`). After the answer nothing is read.
  bool feed(std::string_view bytes);

  [[nodiscard]] bool is_found() const { return is_found_; }
  /// The answer, and its event.
  [[nodiscard]] std::string take_bytes() { return std::move(bytes_); }
  [[nodiscard]] const rpc::SseMetadata& metadata() const { return metadata_; }

  /// Whether the stream may be asked for again: some event had an id, and it was of any use the
  /// last times.
  [[nodiscard]] bool can_continue() const;
  [[nodiscard]] const std::string& last_event_id() const { return last_event_id_; }
  [[nodiscard]] std::chrono::milliseconds retry() const { return retry_; }
  [[nodiscard]] const std::string& fault() const { return parser_.fault(); }

 private:
  void take(SseEvent event);

  const rpc::Id& id_;
  SseLimits limits_;
  SseParser parser_;
  std::string last_event_id_;
  std::chrono::milliseconds retry_{1000};  ///< until the server names a time
  int vain_attempts_ = 0;
  bool is_found_ = false;
  std::string bytes_;
  rpc::SseMetadata metadata_;
};

}  // namespace league::transport
