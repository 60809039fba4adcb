#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "common/rpc/http_headers.h"
#include "common/transport/http/http_options.h"
#include "common/transport/link/message_handler.h"
#include "common/transport/stream/stream_socket.h"

namespace league::transport::stream {

class StreamHost;

/// One event stream to one client: the answer to a POST, a stream that a client opened with GET, or
/// the downward half of the transport of 2024-11-05. A resumable stream outlives its connection:
/// messages pushed meanwhile are stored and sent when the client reconnects. Thread-safe.
class SseStream final : public link::PeerChannel, public std::enable_shared_from_this<SseStream> {
 public:
  enum class Kind { kAnswer, kListening, kLegacy };
  using Time = std::chrono::steady_clock::time_point;

  /// `headers` are those of the request that asked for it.
  SseStream(std::shared_ptr<StreamHost> home, Kind kind,
            std::shared_ptr<const rpc::HeaderMap> headers);
  ~SseStream() override;

  void configure(const link::StreamOptions& options) override;
  bool push(std::shared_ptr<const std::string> bytes) override;
  bool push_event(std::shared_ptr<const std::string> bytes, std::string_view id,
                  std::string_view type) override;
  void close() override;
  [[nodiscard]] bool is_open() const override;
  [[nodiscard]] bool is_away() const override;
  [[nodiscard]] const std::string& id() const override;
  [[nodiscard]] std::string close_reason() const override;

  /// For kAnswer: runs at the first push and requests the connection; false if it is too late for a
  /// stream.
  void on_first_push(std::function<bool()> ask_for_connection);
  /// Begins without a push. False when the server stops.
  bool begin();
  /// Sets the connection of a stream that has begun.
  void adopt(link::DetachedSocket socket);
  /// As push(); `done` runs when the event is with the operating system, or cannot be sent any
  /// more.
  void answer(std::shared_ptr<const std::string> bytes, std::function<void()> done);
  /// Sends the last event, then ends; `done` runs when the event is with the operating system, or
  /// cannot be sent any more.
  void finish(std::shared_ptr<const std::string> bytes, std::function<void()> done);
  /// Ends now, even if the client could reconnect.
  void cut(const std::string& reason);
  /// Sends an event that is not a message.
  void push_note(std::string_view type, std::string_view data);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_resumable() const;
  /// True if a request with these headers belongs to the session that asked for the stream.
  [[nodiscard]] bool is_of_session(const rpc::HeaderMap& headers) const;
  /// Continues the stream on another connection: sends the events after `last`, then new ones.
  /// `headers` are those of the request that asked for it.
  void resume(link::DetachedSocket socket, std::uint64_t last,
              const std::shared_ptr<const rpc::HeaderMap>& headers);
  /// Forgets events that are too old; true if the whole stream is, and then closes it.
  [[nodiscard]] bool expire(Time now);

  /// Messages of a legacy stream without an answer yet.
  std::atomic<std::size_t> in_work = 0;

 private:
  struct StoredEvent {
    std::uint64_t number;
    link::StreamPiece piece;
    Time when;
  };

  struct OwnEvent {
    std::string_view id = {};
    std::string_view type = "message";
  };
  bool emit(std::shared_ptr<const std::string> bytes, bool is_last, std::function<void()> done,
            OwnEvent own);
  // With the lock held
  [[nodiscard]] bool begin_locked();
  void attach_locked(const rpc::HeaderMap* headers, std::string_view first);
  [[nodiscard]] std::string event_id(std::uint64_t number) const;
  void store(std::uint64_t number, const link::StreamPiece& piece);
  void forget_first();
  void end_locked(const std::string& reason);
  void on_socket_gone(const StreamSocket& socket, const StreamEnd& end);
  void report_closed();

  const std::shared_ptr<StreamHost> home_;
  const Kind kind_;
  const std::shared_ptr<const rpc::HeaderMap> headers_;

  mutable std::mutex mutex_;  // guards the rest
  mutable std::string id_;  ///< made when it is asked for: most answers need none
  link::StreamOptions options_;
  std::function<bool()> ask_for_connection_;
  bool has_begun_ = false;
  bool has_ended_ = false;  ///< nothing more is pushed
  bool is_reported_ = false;  ///< on_closed was or will be called
  std::string reason_;
  std::shared_ptr<StreamSocket> socket_;  ///< null while the client is away
  std::uint64_t last_number_ = 0;
  std::deque<StoredEvent> events_;
  std::size_t stored_bytes_ = 0;
  Time away_since_{};  ///< or ended since
};

}  // namespace league::transport::stream
