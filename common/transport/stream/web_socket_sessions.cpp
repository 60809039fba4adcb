#include "common/transport/stream/web_socket_sessions.h"

namespace league::transport {
struct WebSocketSessions::Shared {};
WebSocketSessions::WebSocketSessions(Hub&, const HttpServerOptions&, MessageHandler&) {}
WebSocketSessions::~WebSocketSessions() = default;
TakeOver WebSocketSessions::accept(WebSocketUpgrade) {
  return [](DetachedSocket) {};
}
void WebSocketSessions::begin_stop() {}
void WebSocketSessions::stop() {}
WebSocketSessions::Counts WebSocketSessions::counts() { return {}; }
}  // namespace league::transport
