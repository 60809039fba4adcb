#include "common/transport/stream/web_socket_sessions.h"

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/transport/link/served_connection.h"

namespace league::transport {

struct WebSocketSessions::Shared {
  Shared(EventLoop& its_loop, const HttpServerOptions& options, MessageHandler& its_handler)
      : loop(its_loop),
        handler(its_handler),
        max_in_work(options.streams.max_in_work),
        socket_options{options.limits.max_body, options.streams.max_queue,
                       options.streams.idle_timeout, options.limits.linger_timeout} {}

  struct Session {
    std::shared_ptr<ServerWebSocket> socket;
    std::optional<ServedConnection> served = std::nullopt;  ///< nothing while it is being set up
  };

  EventLoop& loop;
  MessageHandler& handler;
  const std::size_t max_in_work;
  const ServerWebSocketOptions socket_options;

  std::mutex mutex;  // guards the rest; never held while a connection or the handler is called
  std::condition_variable changed;
  bool is_stopping = false;
  std::unordered_map<std::uint64_t, Session> sessions;
  std::uint64_t opened = 0;
  std::uint64_t dropped = 0;

  static void serve(const std::shared_ptr<Shared>& self, DetachedSocket socket,
                    const WebSocketUpgrade& upgrade);
  void forget(std::uint64_t number);
  std::vector<Session> all();
};

void WebSocketSessions::Shared::serve(const std::shared_ptr<Shared>& self, DetachedSocket handed,
                                      const WebSocketUpgrade& upgrade) {
  std::uint64_t number = 0;
  std::shared_ptr<ServerWebSocket> socket;
  {
    std::lock_guard lock(self->mutex);
    if (self->is_stopping) return;  // which closes it
    socket = ServerWebSocket::create(self->loop, std::move(handed), upgrade, self->socket_options);
    number = ++self->opened;
    self->sessions.emplace(number, Session{socket});
  }
  auto served = ServedConnection::serve(
      socket, self->handler,
      {.max_in_work = self->max_in_work, .on_closed = [self, number] { self->forget(number); }});
  bool is_stopping = false;
  {
    std::lock_guard lock(self->mutex);
    is_stopping = self->is_stopping;
    auto found = self->sessions.find(number);
    if (found != self->sessions.end()) found->second.served = served;
  }
  if (is_stopping) {
    socket->announce_stop();
    served.begin_stop();
  }
}

void WebSocketSessions::Shared::forget(std::uint64_t number) {
  Session gone;
  {
    std::lock_guard lock(mutex);
    auto found = sessions.find(number);
    if (found == sessions.end()) return;
    gone = std::move(found->second);
    sessions.erase(found);
    dropped += gone.socket->was_dropped() ? 1 : 0;
  }
  changed.notify_all();
}

std::vector<WebSocketSessions::Shared::Session> WebSocketSessions::Shared::all() {
  std::lock_guard lock(mutex);
  std::vector<Session> copies;
  copies.reserve(sessions.size());
  for (const auto& [number, session] : sessions) copies.push_back(session);
  return copies;
}

WebSocketSessions::WebSocketSessions(EventLoop& loop, const HttpServerOptions& options,
                                     MessageHandler& handler)
    : shared_(std::make_shared<Shared>(loop, options, handler)) {}

WebSocketSessions::~WebSocketSessions() = default;

TakeOver WebSocketSessions::accept(WebSocketUpgrade upgrade) {
  return [shared = shared_, upgrade = std::move(upgrade)](DetachedSocket socket) {
    Shared::serve(shared, std::move(socket), upgrade);
  };
}

void WebSocketSessions::begin_stop() {
  {
    std::lock_guard lock(shared_->mutex);
    if (std::exchange(shared_->is_stopping, true)) return;
  }
  for (auto& session : shared_->all()) {
    session.socket->announce_stop();
    if (session.served) session.served->begin_stop();
  }
}

void WebSocketSessions::stop() {
  begin_stop();
  for (auto& session : shared_->all()) session.socket->cut();
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return shared_->sessions.empty(); });
}

WebSocketSessions::Counts WebSocketSessions::counts() {
  std::lock_guard lock(shared_->mutex);
  return {shared_->sessions.size(), shared_->opened, shared_->dropped};
}

}  // namespace league::transport
