#include "common/transport/stream/stream_host.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>

namespace league::transport::stream {

namespace {

constexpr std::uint16_t kGoingAway = 1001;  // a WebSocket's close code

std::chrono::milliseconds tick_interval(const http::HttpServerOptions& options) {
  using std::chrono::milliseconds;
  milliseconds shortest = std::min(
      {options.streams.keep_alive, options.streams.stored_for, options.limits.write_timeout});
  return std::clamp(shortest / 4, milliseconds(5), milliseconds(1000));
}

/// `STREAM-NUMBER`.
std::optional<std::pair<std::string, std::uint64_t>> parse_event_id(std::string_view text) {
  std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  std::string_view digits = text.substr(dash + 1);
  std::uint64_t number = 0;
  auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (fault != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return std::pair{std::string(text.substr(0, dash)), number};
}

}  // namespace

/// Ends within `interval` after the host has stopped.
link::Task<void> StreamHost::tick_all(link::EventLoop* loop, std::chrono::milliseconds interval,
                                      std::weak_ptr<StreamHost> host) {
  boost::asio::steady_timer pause(loop->context());
  for (;;) {
    pause.expires_after(interval);
    co_await pause.async_wait(boost::asio::use_awaitable);
    auto alive = host.lock();
    if (!alive || alive->has_stopped()) co_return;
    alive->tick();
  }
}

bool StreamHost::has_stopped() {
  std::lock_guard lock(mutex_);
  return is_stopped_;
}

std::shared_ptr<StreamHost> StreamHost::create(const SharedStreams& share,
                                               const http::HttpServerOptions& options,
                                               link::MessageHandler& handler) {
  std::shared_ptr<StreamHost> host(new StreamHost(share, options, handler));
  boost::asio::co_spawn(share.loop->context(), tick_all(share.loop, tick_interval(options), host),
                        boost::asio::detached);
  return host;
}

StreamHost::StreamHost(const SharedStreams& share, const http::HttpServerOptions& options,
                       link::MessageHandler& handler)
    : share_(share),
      options_(options),
      cors_(options.allow_origins),
      handler_(handler),
      web_sockets_(std::make_shared<connection::ServedConnections>(
          handler, options.streams.max_in_work, kGoingAway)) {}

StreamHost::~StreamHost() = default;

std::shared_ptr<SseStream> StreamHost::new_answer(std::shared_ptr<const rpc::HeaderMap> headers) {
  return std::make_shared<SseStream>(shared_from_this(), SseStream::Kind::kAnswer,
                                     std::move(headers));
}

link::TakeOver StreamHost::listen(link::StreamAcceptance acceptance,
                                  std::shared_ptr<const rpc::HeaderMap> headers) {
  return [self = shared_from_this(), acceptance = std::move(acceptance),
          headers = std::move(headers)](link::DetachedSocket socket) {
    auto stream = std::make_shared<SseStream>(self, SseStream::Kind::kListening, headers);
    stream->configure(acceptance.options);
    if (!stream->begin()) return;
    if (acceptance.opened) acceptance.opened(stream);
    stream->adopt(std::move(socket));
  };
}

link::TakeOver StreamHost::open_legacy(std::shared_ptr<const rpc::HeaderMap> headers) {
  return [self = shared_from_this(), headers = std::move(headers)](link::DetachedSocket socket) {
    auto stream = std::make_shared<SseStream>(self, SseStream::Kind::kLegacy, headers);
    if (!stream->begin()) return;
    stream->push_note("endpoint", self->options_.sse_path + "/message?sessionId=" + stream->id());
    stream->adopt(std::move(socket));
  };
}

link::TakeOver StreamHost::accept(WebSocketUpgrade upgrade) {
  const ServerWebSocketOptions options{options_.limits.max_body, options_.streams.max_queue,
                                       options_.streams.idle_timeout,
                                       options_.limits.linger_timeout};
  return [connections = web_sockets_, &loop = *share_.loop, upgrade = std::move(upgrade),
          options](link::DetachedSocket socket) {
    connections->serve(serve_web_socket(loop, std::move(socket), upgrade, options));
  };
}

std::optional<link::TakeOver> StreamHost::resume(std::string_view last_event_id,
                                                 std::shared_ptr<const rpc::HeaderMap> headers) {
  auto event = parse_event_id(last_event_id);
  if (!event) return std::nullopt;
  StreamPtr stream;
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return std::nullopt;
    auto found = streams_.find(event->first);
    if (found == streams_.end()) {
      found = ended_.find(event->first);
      if (found == ended_.end()) return std::nullopt;
    }
    stream = found->second;
  }
  if (!stream->is_resumable() || !stream->is_of_session(*headers)) return std::nullopt;
  {
    std::lock_guard lock(mutex_);
    ++resumed_;
  }
  return [stream, last = event->second, headers = std::move(headers)](link::DetachedSocket socket) {
    stream->resume(std::move(socket), last, headers);
  };
}

std::shared_ptr<SseStream> StreamHost::find_legacy(const std::string& id) {
  std::lock_guard lock(mutex_);
  auto found = streams_.find(id);
  bool is_legacy = found != streams_.end() && found->second->kind() == SseStream::Kind::kLegacy;
  return is_legacy ? found->second : nullptr;
}

link::ReplySlot StreamHost::legacy_slot(std::shared_ptr<SseStream> stream) {
  ++stream->in_work;
  return link::ReplySlot(
      [self = shared_from_this(), stream = std::move(stream)](link::OutboundReply reply) {
        if (!reply.bytes.empty()) {
          stream->answer(reply.bytes.share(), std::move(reply.after_sent));
        } else if (reply.after_sent) {
          reply.after_sent();
        }
        if (--stream->in_work > 0) return;
        std::unique_lock lock(self->mutex_);
        bool is_last = self->is_stopping_;
        lock.unlock();
        if (is_last) stream->close();
      });
}

void StreamHost::begin_stop() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_stopping_, true)) return;
  }
  for (const auto& stream : all_streams()) {
    bool is_in_work = stream->kind() == SseStream::Kind::kAnswer || stream->in_work > 0;
    if (!is_in_work) stream->close();
  }
  web_sockets_->begin_stop();
}

void StreamHost::stop() {
  begin_stop();
  std::unordered_map<std::string, StreamPtr> ended;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;  // nothing begins any more
    ended.swap(ended_);
  }
  for (const auto& stream : all_streams()) stream->cut("the server stops");
  web_sockets_->stop(std::chrono::milliseconds(0));
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return streams_.empty(); });
  }
  // Clients that have reconnected for the end of a stream.
  for (const auto& [id, stream] : ended) stream->cut("the server stops");
}

http::StreamCounts StreamHost::counts() {
  auto sockets = web_sockets_->counts();
  auto all = all_streams();
  auto resumable = std::count_if(all.begin(), all.end(),
                                 [](const StreamPtr& stream) { return stream->is_resumable(); });
  std::lock_guard lock(mutex_);
  http::StreamCounts counts;
  counts.resumable = static_cast<std::size_t>(resumable);
  counts.open = sockets_.size() + sockets.open;
  counts.resumable += ended_.size();
  counts.stored_bytes = *share_.stored;
  counts.opened = opened_ + sockets.opened;
  counts.resumed = resumed_;
  counts.dropped = dropped_ + sockets.dropped;
  return counts;
}

std::shared_ptr<StreamSocket> StreamHost::new_socket(StreamSocket::OnGone on_gone) {
  const http::StreamLimits& limits = options_.streams;
  auto socket = std::make_shared<StreamSocket>(
      *share_.loop,
      StreamSocketOptions{limits.max_queue, limits.keep_alive, options_.limits.write_timeout,
                          limits.idle_timeout},
      [self = shared_from_this(), on_gone = std::move(on_gone)](const StreamSocket& gone,
                                                                const StreamEnd& end) {
        {
          std::lock_guard lock(self->mutex_);
          self->sockets_.erase(&gone);
          self->dropped_ += end.was_dropped ? 1 : 0;
        }
        on_gone(gone, end);
      });
  std::lock_guard lock(mutex_);
  sockets_.emplace(socket.get(), socket);
  return socket;
}

bool StreamHost::on_begun(const StreamPtr& stream, const std::string& id) {
  std::lock_guard lock(mutex_);
  // An answer to a request in work may still become a stream.
  bool is_late = is_stopped_ || (is_stopping_ && stream->kind() != SseStream::Kind::kAnswer);
  if (is_late) return false;
  streams_.emplace(id, stream);
  ++opened_;
  return true;
}

void StreamHost::on_closed(const StreamPtr& stream) {
  handler_.on_channel_closed(*stream);
  // Determined before the lock is taken, because streams call this object with their own lock held.
  const std::string& id = stream->id();
  bool is_resumable = stream->is_resumable();
  StreamPtr forgotten;
  {
    std::lock_guard lock(mutex_);
    streams_.erase(id);
    if (is_resumable && !is_stopping_) {
      ended_.emplace(id, stream);
      ended_order_.push_back(id);
    }
    if (ended_order_.size() > options_.streams.max_away_streams) {
      if (auto oldest = ended_.extract(ended_order_.front()))
        forgotten = std::move(oldest.mapped());
      ended_order_.pop_front();
    }
  }
  changed_.notify_all();
}

void StreamHost::tick() {
  auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<StreamSocket>> sockets;
  {
    std::lock_guard lock(mutex_);
    sockets.reserve(sockets_.size());
    for (const auto& [key, weak] : sockets_) {
      if (auto socket = weak.lock()) sockets.push_back(std::move(socket));
    }
  }
  for (const auto& socket : sockets) socket->tick(now);
  expire_streams(now);
}

void StreamHost::expire_streams(std::chrono::steady_clock::time_point now) {
  std::vector<StreamPtr> ended;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, stream] : ended_) ended.push_back(stream);
  }
  // Closing an open stream moves it to the ended ones, where it expires at once.
  std::size_t away = 0;
  for (const auto& stream : all_streams()) {
    if (!stream->is_resumable() || stream->expire(now) || !stream->is_away()) continue;
    if (++away > options_.streams.max_away_streams) stream->cut("too many clients are away");
  }
  std::erase_if(ended, [&](const StreamPtr& stream) { return !stream->expire(now); });
  std::vector<std::string> ids;
  for (const auto& stream : ended) ids.push_back(stream->id());
  std::lock_guard lock(mutex_);
  for (const auto& id : ids) ended_.erase(id);
  while (!ended_order_.empty() && !ended_.contains(ended_order_.front())) {
    ended_order_.pop_front();
  }
}

std::vector<StreamHost::StreamPtr> StreamHost::all_streams() {
  std::lock_guard lock(mutex_);
  std::vector<StreamPtr> all;
  all.reserve(streams_.size());
  for (const auto& [id, stream] : streams_) all.push_back(stream);
  return all;
}

}  // namespace league::transport::stream
