#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/rpc/context.h"
#include "common/transport/connection/served_connections.h"
#include "common/transport/http/cors_rules.h"
#include "common/transport/http/http_options.h"
#include "common/transport/link/detached_socket.h"
#include "common/transport/link/event_loop.h"
#include "common/transport/stream/server_web_socket.h"
#include "common/transport/stream/sse_stream.h"

namespace league::transport::stream {

/// Shared by the streams of all servers of a runtime; outlives their hosts.
struct SharedStreams {
  link::EventLoop* loop = nullptr;
  std::shared_ptr<std::atomic<std::size_t>> stored = std::make_shared<std::atomic<std::size_t>>(0);
};

/// The long-lived streams of one server: event streams, including those whose clients may
/// reconnect, streams of the transport of 2024-11-05, WebSockets. They live on the event loop; none
/// needs a thread. Thread-safe.
class StreamHost final : public std::enable_shared_from_this<StreamHost> {
 public:
  /// `handler` and the event loop outlive stop().
  [[nodiscard]] static std::shared_ptr<StreamHost> create(const SharedStreams& share,
                                                          const http::HttpServerOptions& options,
                                                          link::MessageHandler& handler);
  ~StreamHost();

  /// The answer to a POST; it begins with its first push.
  [[nodiscard]] std::shared_ptr<SseStream> new_answer(
      std::shared_ptr<const rpc::HeaderMap> headers);
  /// A client opens a stream to listen.
  [[nodiscard]] link::TakeOver listen(link::StreamAcceptance acceptance,
                                      std::shared_ptr<const rpc::HeaderMap> headers);
  /// The stream behind an event id, for a client of the same session; nothing where it is unknown.
  [[nodiscard]] std::optional<link::TakeOver> resume(std::string_view last_event_id,
                                                     std::shared_ptr<const rpc::HeaderMap> headers);
  /// A stream of the transport of 2024-11-05, whose first event says where messages go to.
  [[nodiscard]] link::TakeOver open_legacy(std::shared_ptr<const rpc::HeaderMap> headers);
  /// Null if the client is gone.
  [[nodiscard]] std::shared_ptr<SseStream> find_legacy(const std::string& id);
  /// A slot that answers on the stream.
  [[nodiscard]] link::ReplySlot legacy_slot(std::shared_ptr<SseStream> stream);
  /// Answers the upgrade and serves the messages that follow.
  [[nodiscard]] link::TakeOver accept(WebSocketUpgrade upgrade);

  /// Ends streams that only listen; answers and messages in progress are awaited.
  void begin_stop();
  /// Ends everything and waits until the handler has been told. Not on the event loop.
  void stop();
  [[nodiscard]] http::StreamCounts counts();

  // For its streams
  [[nodiscard]] std::shared_ptr<StreamSocket> new_socket(StreamSocket::OnGone on_gone);
  [[nodiscard]] const http::StreamLimits& limits() const { return options_.streams; }
  /// Lines of the response's head for a request with these header fields (CORS); may be empty.
  [[nodiscard]] std::string head_lines_for(const rpc::HeaderMap& headers) const {
    return http::head_lines(cors_.answer_fields(headers));
  }
  /// Bytes of stored events in all streams.
  [[nodiscard]] std::atomic<std::size_t>& stored() { return *share_.stored; }
  /// The stream has begun and is registered. False if the server is stopping. Called with the
  /// stream's lock held.
  bool on_begun(const std::shared_ptr<SseStream>& stream, const std::string& id);
  /// The channel is closed; called once, after on_begun, on the event loop.
  void on_closed(const std::shared_ptr<SseStream>& stream);
  /// Runs `task` on the event loop.
  void post(std::function<void()> task) { share_.loop->post(std::move(task)); }

 private:
  using StreamPtr = std::shared_ptr<SseStream>;

  StreamHost(const SharedStreams& share, const http::HttpServerOptions& options,
             link::MessageHandler& handler);
  static link::Task<void> tick_all(link::EventLoop* loop, std::chrono::milliseconds interval,
                                   std::weak_ptr<StreamHost> host);
  [[nodiscard]] bool has_stopped();
  void tick();
  void expire_streams(std::chrono::steady_clock::time_point now);
  [[nodiscard]] std::vector<StreamPtr> all_streams();

  const SharedStreams share_;
  const http::HttpServerOptions options_;
  const http::CorsRules cors_;
  link::MessageHandler& handler_;
  const std::shared_ptr<connection::ServedConnections> web_sockets_;

  std::mutex mutex_;  // guards the rest; never held while a stream or the handler is called
  std::condition_variable changed_;
  bool is_stopping_ = false;
  bool is_stopped_ = false;
  /// Those that are open, by id; resumable ones also while the client is away.
  std::unordered_map<std::string, StreamPtr> streams_;
  /// Resumable ones that have ended, and the order in which they ended.
  std::unordered_map<std::string, StreamPtr> ended_;
  std::deque<std::string> ended_order_;
  std::unordered_map<const StreamSocket*, std::weak_ptr<StreamSocket>> sockets_;
  std::uint64_t opened_ = 0;
  std::uint64_t resumed_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace league::transport::stream
