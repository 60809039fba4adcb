#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace league::transport::link {

/// One event of a `text/event-stream`.
struct SseEvent {
  std::string type;  ///< `message` where the stream names none
  std::string data;  ///< its lines joined with LF; may be empty (`data:` alone)
  std::optional<std::string> id;  ///< nothing where this event has no id of its own
  std::optional<std::chrono::milliseconds> retry;  ///< what stood in this event
};

/// Limits of what a reader buffers for a stream.
struct SseLimits {
  std::size_t max_line = 1024 * 1024 + 64;  ///< bytes, without the end of the line
  std::size_t max_event = 1024 * 1024;  ///< bytes of all data lines of an event together
};

/// Parses server-sent events from bytes in pieces of any size: lines end with CR, LF or CRLF, a
/// byte order mark is skipped, comments and unknown fields are ignored, and an event cut off by the
/// stream's end is dropped. Bytes are passed on unchanged. Not thread-safe. Source: WHATWG HTML
/// §9.2.
class SseParser {
 public:
  using Sink = std::function<void(SseEvent)>;

  explicit SseParser(const SseLimits& limits = {}) : limits_(limits) {}

  /// Parses more bytes; each event that ends within `bytes` goes to `sink`, in which the parser may
  /// not be destroyed. False once the stream has exceeded a limit: the fault says which, and
  /// nothing more is parsed.
  bool feed(std::string_view bytes, const Sink& sink);

  /// Of the last event that ended, with data or without: what Last-Event-ID would be.
  [[nodiscard]] const std::string& last_event_id() const { return last_event_id_; }
  /// The reconnection time that the stream asked for last.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry() const { return retry_; }
  /// Empty while there is no fault.
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  std::string_view skip_mark(std::string_view bytes);
  bool take_line(std::string_view end_of_line, const Sink& sink);
  bool read_line(std::string_view line, const Sink& sink);
  bool read_field(std::string_view name, std::string_view value);
  void read_retry(std::string_view digits);
  void dispatch(const Sink& sink);
  bool fail(std::string why);

  SseLimits limits_;
  std::string partial_;  ///< of a line whose end has not come
  std::size_t mark_seen_ = 0;  ///< bytes of the byte order mark; 3 and more: past it
  bool is_after_cr_ = false;  ///< an LF that comes now belongs to the CR before it
  SseEvent event_;
  bool has_data_ = false;
  std::string id_buffer_;
  std::string last_event_id_;
  std::optional<std::chrono::milliseconds> retry_;
  std::string fault_;
};

}  // namespace league::transport::link
