#include "common/agent/host/agent_listener.h"

#include "common/transport/line/stdio_server.h"

namespace league::agent::host {
namespace {

transport::line::LineLimits line_limits(const transport::http::HttpServerOptions& http) {
  transport::line::LineLimits limits;
  limits.max_line = http.limits.max_body;
  limits.line_timeout = http.limits.request_timeout;
  return limits;
}

}  // namespace

core::Result<std::unique_ptr<AgentListener>> AgentListener::start(
    transport::front::HttpRuntime& runtime, transport::link::EventLoop& loop, ListenOptions options,
    transport::link::MessageHandler& handler) {
  std::unique_ptr<AgentListener> listener(new AgentListener(options.http.stop_grace));
  core::Result<void> started;
  if (is_over_http(options.serving)) {
    options.http.prefers_event_stream = options.serving == Serving::kEventStream;
    auto http = transport::front::HttpServer::start(runtime, options.http, handler,
                                                    std::move(options.pages));
    if (!http) return http.error();
    listener->http_ = std::move(*http);
  } else if (options.serving == Serving::kNats) {
    return core::Error{core::ErrorCode::kInternalError, "sessions on a bus are no listener", {}};
  } else if (options.serving == Serving::kStdio) {
    started = listener->start_stdio(loop, std::move(options), handler);
  } else {
    started = listener->start_lines(loop, options, handler);
  }
  if (!started) return started.error();
  return listener;
}

core::Result<void> AgentListener::start_lines(transport::link::EventLoop& loop,
                                              const ListenOptions& options,
                                              transport::link::MessageHandler& handler) {
  transport::line::LineListenerOptions lines;
  lines.bind_address = options.http.bind_address;
  lines.port = options.http.port;
  lines.limits = line_limits(options.http);
  if (options.serving == Serving::kUnix) {
    if (options.socket.empty()) {
      return core::Error{core::ErrorCode::kInvalidFieldValue,
                         "--transport unix needs the file of the socket: add --socket FILE",
                         {}};
    }
    lines.unix_path = std::filesystem::absolute(options.socket).lexically_normal().string();
  }
  auto listener = transport::line::LineListener::start(loop, lines, handler);
  if (!listener) return listener.error();
  lines_ = std::move(*listener);
  return {};
}

core::Result<void> AgentListener::start_stdio(transport::link::EventLoop& loop,
                                              ListenOptions options,
                                              transport::link::MessageHandler& handler) {
  auto on_end = [ended = stdio_ended_, then = std::move(options.on_input_end)] {
    {
      std::lock_guard lock(ended->mutex);
      ended->value = true;
    }
    ended->changed.notify_all();
    if (then) then();
  };
  auto served =
      transport::line::serve_stdio(loop, handler, std::move(on_end), line_limits(options.http));
  if (!served) return served.error();
  stdio_ = std::move(*served);
  return {};
}

AgentListener::~AgentListener() { stop(); }

std::uint16_t AgentListener::port() const {
  if (http_) return http_->port();
  return lines_ ? lines_->port() : std::uint16_t{0};
}

void AgentListener::begin_stop() {
  if (http_) http_->begin_stop();
  if (lines_) lines_->begin_stop();
  if (stdio_) stdio_->begin_stop();
}

void AgentListener::stop() {
  if (http_) http_->stop();
  if (lines_) lines_->stop(grace_);
  if (stdio_) stop_stdio();
}

void AgentListener::stop_stdio() {
  stdio_->begin_stop();
  auto is_over = [this] { return stdio_ended_->value; };
  std::unique_lock lock(stdio_ended_->mutex);
  if (stdio_ended_->changed.wait_for(lock, grace_, is_over)) return;
  lock.unlock();
  stdio_->close();
  lock.lock();
  stdio_ended_->changed.wait_for(lock, grace_, is_over);
}

}  // namespace league::agent::host
