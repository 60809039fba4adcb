#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace league::transport::link {

/// Some bytes of a stream. The middle is shared, so that an event for thousands of peers exists
/// once.
struct StreamPiece {
  std::string head;
  std::shared_ptr<const std::string> body = nullptr;
  std::string_view tail = {};  ///< a literal

  [[nodiscard]] std::size_t size() const {
    return head.size() + (body ? body->size() : 0) + tail.size();
  }
};

/// An event as the HTML standard wants it (server-sent events). `id` may be empty: none. Data with
/// line ends becomes several data lines, so that nothing in it can begin another field.
[[nodiscard]] StreamPiece sse_event(std::shared_ptr<const std::string> data,
                                    std::string_view id = {}, std::string_view type = "message");
/// The same as one text.
[[nodiscard]] std::string sse_event_text(std::string_view data, std::string_view id = {},
                                         std::string_view type = "message");
/// The beginning of a stream: how long to wait before reconnecting and, with `id`, an event without
/// data that gives the client an id for that. May be empty.
[[nodiscard]] std::string sse_preface(std::string_view id,
                                      std::optional<std::chrono::milliseconds> retry);
/// A comment, which clients ignore.
inline constexpr std::string_view kSseComment = ":\n\n";

/// The head of a response that is an event stream, without the empty line at its end, so that
/// further header lines can be added. The stream ends with its connection.
inline constexpr std::string_view kSseHead =
    "HTTP/1.1 200 OK\r\n"
    "Content-Type: text/event-stream\r\n"
    "Cache-Control: no-cache, no-transform\r\n"
    "X-Accel-Buffering: no\r\n"
    "Connection: close\r\n";

}  // namespace league::transport::link
