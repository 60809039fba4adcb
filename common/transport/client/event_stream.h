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
  /// `retry`: the delay before it is asked for again, until the server names one.
  EventStream(const HttpClientLimits& limits, std::chrono::milliseconds retry)
      : limits_{limits.max_message + 64, limits.max_message}, parser_(limits_), retry_(retry) {}

  /// The stream begins or continues with a new answer.
  void begin(rpc::MessageContext of_answer) {
    last_id_ = last_event_id();
    retry_ = retry();
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
      vain_attempts_ = 0;
      auto context = context_of_event(event, last_event_id(), stream_id_, of_answer_);
      sink({{std::move(event.data), std::move(context)}});
    });
  }

  /// The GET of the stream, from the last event on; its target is still missing.
  [[nodiscard]] HttpRequest request() const {
    HttpRequest request;
    request.method = "GET";
    request.is_repeatable = true;
    request.is_listening = true;
    request.headers.emplace_back("Accept", link::kEventStreamType);
    if (const auto& id = last_event_id(); !id.empty())
      request.headers.emplace_back("Last-Event-ID", id);
    return request;
  }
  /// Whether the rest of an answer can be asked for: an event had an id, and there were not too
  /// many attempts in vain.
  [[nodiscard]] bool may_continue() const {
    constexpr int kMostVainAttempts = 5;
    return !last_event_id().empty() && vain_attempts_ < kMostVainAttempts;
  }
  /// Counts one more attempt.
  void on_attempt() { ++vain_attempts_; }
  /// Attempts since the last message.
  [[nodiscard]] int vain_attempts() const { return vain_attempts_; }
  /// How long to wait before an attempt.
  [[nodiscard]] std::chrono::milliseconds retry() const { return parser_.retry().value_or(retry_); }

  /// Empty if no event had an id; then the stream cannot be continued.
  [[nodiscard]] const std::string& last_event_id() const {
    return parser_.last_event_id().empty() ? last_id_ : parser_.last_event_id();
  }
  [[nodiscard]] const std::string& fault() const { return parser_.fault(); }

 private:
  link::SseLimits limits_;
  link::SseParser parser_;
  std::chrono::milliseconds retry_;
  std::string last_id_;
  std::string stream_id_;
  int vain_attempts_ = 0;
  rpc::MessageContext of_answer_;
};

}  // namespace league::transport::client
