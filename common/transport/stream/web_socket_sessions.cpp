#include "common/transport/stream/web_socket_sessions.h"

#include <utility>

namespace league::transport::stream {

namespace {

constexpr std::uint16_t kGoingAway = 1001;

}  // namespace

WebSocketSessions::WebSocketSessions(link::EventLoop& loop, const http::HttpServerOptions& options,
                                     link::MessageHandler& handler)
    : loop_(loop),
      handler_(handler),
      max_in_work_(options.streams.max_in_work),
      socket_options_{options.limits.max_body, options.streams.max_queue,
                      options.streams.idle_timeout, options.limits.linger_timeout} {}

link::TakeOver WebSocketSessions::accept(WebSocketUpgrade upgrade) {
  return [self = shared_from_this(), upgrade = std::move(upgrade)](link::DetachedSocket socket) {
    self->serve(std::move(socket), upgrade);
  };
}

void WebSocketSessions::serve(link::DetachedSocket handed, const WebSocketUpgrade& upgrade) {
  std::uint64_t number = 0;
  std::shared_ptr<link::WireConnection> socket;
  {
    std::lock_guard lock(mutex_);
    if (is_stopping_) return;  // which closes it
    socket = serve_web_socket(loop_, std::move(handed), upgrade, socket_options_);
    number = ++opened_;
    sessions_.emplace(number, Session{socket});
  }
  auto served = link::ServedConnection::serve(
      socket, handler_,
      {.max_in_work = max_in_work_,
       .on_closed = [self = shared_from_this(), number] { self->forget(number); }});
  bool is_stopping = false;
  {
    std::lock_guard lock(mutex_);
    is_stopping = is_stopping_;
    auto found = sessions_.find(number);
    if (found != sessions_.end()) found->second.served = served;
  }
  if (is_stopping) {
    socket->set_close_code(kGoingAway);
    served->begin_stop();
  }
}

void WebSocketSessions::forget(std::uint64_t number) {
  Session gone;
  {
    std::lock_guard lock(mutex_);
    auto found = sessions_.find(number);
    if (found == sessions_.end()) return;
    gone = std::move(found->second);
    sessions_.erase(found);
    dropped_ += gone.socket->was_dropped() ? 1 : 0;
  }
  changed_.notify_all();
}

std::vector<WebSocketSessions::Session> WebSocketSessions::all() {
  std::lock_guard lock(mutex_);
  std::vector<Session> copies;
  copies.reserve(sessions_.size());
  for (const auto& [number, session] : sessions_) copies.push_back(session);
  return copies;
}

void WebSocketSessions::begin_stop() {
  {
    std::lock_guard lock(mutex_);
    if (std::exchange(is_stopping_, true)) return;
  }
  for (auto& session : all()) {
    session.socket->set_close_code(kGoingAway);
    if (session.served) session.served->begin_stop();
  }
}

void WebSocketSessions::stop() {
  begin_stop();
  for (auto& session : all())
    session.socket->abort({core::ErrorCode::kShuttingDown, "the server stops", {}});
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return sessions_.empty(); });
}

WebSocketSessions::Counts WebSocketSessions::counts() {
  std::lock_guard lock(mutex_);
  return {sessions_.size(), opened_, dropped_};
}

}  // namespace league::transport::stream
