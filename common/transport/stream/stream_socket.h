#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "common/transport/link/detached_socket.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/link/sse_writer.h"
#include "common/transport/link/task.h"

namespace league::transport::stream {

/// How a stream ended.
struct StreamEnd {
  std::string reason;  ///< for people
  bool was_dropped = false;  ///< the peer read too slowly
};

/// Limits of one stream.
struct StreamSocketOptions {
  std::size_t max_queue = 0;  ///< bytes that wait for the peer, else it is dropped
  std::chrono::milliseconds keep_alive{};  ///< of silence, then a comment
  std::chrono::milliseconds write_timeout{};  ///< for a peer that takes nothing of what waits
  /// The time after which the peer counts as gone if its machine acknowledges nothing, although the
  /// operating system still accepts bytes for it.
  std::chrono::milliseconds dead_after{};
};

/// A write-only socket on the event loop, for one direction of an event stream. Its queue exists
/// before the socket, since a stream begins before its connection is available. One task watches
/// the peer, one writes while something is queued; both keep this object, and closing the
/// descriptor ends them. Thread-safe.
class StreamSocket : public std::enable_shared_from_this<StreamSocket> {
 public:
  /// `on_gone` runs once, on the event loop, when the descriptor is closed and all `done` have run.
  using OnGone = std::function<void(const StreamSocket&, const StreamEnd&)>;

  StreamSocket(link::EventLoop& loop, const StreamSocketOptions& options, OnGone on_gone);
  ~StreamSocket();
  StreamSocket(const StreamSocket&) = delete;
  StreamSocket& operator=(const StreamSocket&) = delete;

  /// Begins to write to the connection and to watch it. Once.
  void adopt(link::DetachedSocket socket);
  /// Sends bytes; `done` runs when they are with the operating system, or cannot be sent any more.
  /// False if the peer is gone or has just been dropped.
  bool push(link::StreamPiece piece, std::function<void()> done = nullptr);
  /// Closes when everything is sent.
  void finish(std::string reason);
  /// Closes now.
  void cut(StreamEnd end);
  /// Checks the time limits; on the event loop.
  void tick(std::chrono::steady_clock::time_point now);

 private:
  struct Item {
    link::StreamPiece piece;
    std::function<void()> done;
  };
  using Time = std::chrono::steady_clock::time_point;

  void begin_writing();
  // On the event loop
  void run(link::Task<void> task);
  link::Task<void> write_all();
  link::Task<void> watch();
  [[nodiscard]] bool refill();
  [[nodiscard]] bool write_some();
  [[nodiscard]] bool read_stray();
  void consume(std::size_t count);
  void close(StreamEnd end);

  link::EventLoop& loop_;
  const StreamSocketOptions options_;

  std::mutex mutex_;  // guards what follows up to the blank line
  std::deque<Item> queue_;
  std::size_t waiting_ = 0;  ///< bytes that are not with the system yet
  bool is_adopted_ = false;
  bool is_writing_ = false;  ///< a task does, or will
  bool is_finishing_ = false;
  bool is_closed_ = false;
  StreamEnd end_;  ///< of is_finishing_

  // Only the event loop touches these.
  OnGone on_gone_;
  std::optional<boost::asio::posix::stream_descriptor> descriptor_;
  std::shared_ptr<void> seat_;
  std::deque<Item> writing_;
  std::size_t written_ = 0;  ///< of the first
  std::size_t stray_ = 0;  ///< bytes that the peer sent for nothing
  Time last_sent_{};
  std::optional<Time> stalled_since_;  ///< the system's buffer is full since then
};

}  // namespace league::transport::stream
