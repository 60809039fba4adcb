#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "common/transport/client/connection_parts.h"
#include "common/transport/link/sse_parser.h"

namespace league::transport::client {

/// The events of a stream that can break off and continue on another connection. Not thread-safe.
class EventStream {
 public:
  explicit EventStream(const HttpClientLimits& limits)
      : limits_{limits.max_message + 64, limits.max_message}, parser_(limits_) {}

  /// The stream begins or continues with a new answer.
  void begin(rpc::MessageContext of_answer) {
    if (!parser_.last_event_id().empty()) last_id_ = parser_.last_event_id();
    if (parser_.retry()) retry_ = parser_.retry();
    parser_ = link::SseParser(limits_);
    of_answer_ = std::move(of_answer);
    if (of_answer_.transport.connection) {
      stream_id_ = of_answer_.transport.connection->connection_id;
    }
  }

  /// Passes each message to `sink` and each event of another type to `other`; false if a limit was
  /// exceeded (`fault`).
  bool feed(std::string_view bytes, const std::function<void(link::ReceivedMessage)>& sink,
            const std::function<void(const link::SseEvent&)>& other = nullptr) {
    return parser_.feed(bytes, [&](link::SseEvent event) {
      if (event.type != "message" && other) other(event);
      if (event.type != "message" || event.data.empty()) return;
      auto context = context_of_event(event, last_event_id(), stream_id_, of_answer_);
      sink({{std::move(event.data), std::move(context)}});
    });
  }

  /// Empty if no event had an id; then the stream cannot be continued.
  [[nodiscard]] const std::string& last_event_id() const {
    return parser_.last_event_id().empty() ? last_id_ : parser_.last_event_id();
  }
  [[nodiscard]] std::chrono::milliseconds retry_or(std::chrono::milliseconds fallback) const {
    return parser_.retry().value_or(retry_.value_or(fallback));
  }
  [[nodiscard]] const std::string& fault() const { return parser_.fault(); }

 private:
  link::SseLimits limits_;
  link::SseParser parser_;
  std::string last_id_;
  std::optional<std::chrono::milliseconds> retry_;
  std::string stream_id_;
  rpc::MessageContext of_answer_;
};

}  // namespace league::transport::client
