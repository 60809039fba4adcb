#include "common/transport/front/http_server.h"

#include "common/transport/front/http_front.h"
#include "common/transport/link/socket.h"

namespace league::transport::front {

core::Result<std::unique_ptr<HttpRuntime>> HttpRuntime::start(
    const http::HttpRuntimeOptions& options) {
  std::unique_ptr<link::EventLoop> own_loop;
  if (options.loop == nullptr) {
    auto loop = link::EventLoop::start();
    if (!loop) return loop.error();
    own_loop = std::move(*loop);
  }
  link::EventLoop& loop = own_loop ? *own_loop : *options.loop;
  auto front = std::make_shared<HttpFront>(options);
  if (auto started = front->start(); !started) return started.error();
  return std::unique_ptr<HttpRuntime>(new HttpRuntime(std::move(own_loop), loop, std::move(front)));
}

HttpRuntime::HttpRuntime(std::unique_ptr<link::EventLoop> own_loop, link::EventLoop& loop,
                         std::shared_ptr<HttpFront> front)
    : own_loop_(std::move(own_loop)),
      streams_(std::make_unique<stream::SharedStreams>(stream::SharedStreams{&loop})),
      front_(std::move(front)) {}

HttpRuntime::~HttpRuntime() {
  front_->stop();
  if (own_loop_) own_loop_->stop();
}

link::EventLoop& HttpRuntime::loop() const { return *streams_->loop; }

core::Result<std::unique_ptr<HttpServer>> HttpServer::start(HttpRuntime& runtime,
                                                            const http::HttpServerOptions& options,
                                                            link::MessageHandler& handler,
                                                            std::vector<http::Page> pages) {
  auto socket = link::listen_on(options.bind_address, options.port);
  if (!socket) return socket.error();
  std::uint16_t port = link::local_address(socket->get()).port;
  auto state = std::make_shared<ServerState>(options, handler, *runtime.streams_);
  for (auto& page : pages) state->http.add_page(std::move(page));
  auto listener = runtime.front_->add(*std::move(socket), state);
  return std::unique_ptr<HttpServer>(
      new HttpServer(runtime.front_, std::move(state), std::move(listener), port));
}

HttpServer::HttpServer(std::shared_ptr<HttpFront> front, std::shared_ptr<ServerState> state,
                       std::shared_ptr<Listener> listener, std::uint16_t port)
    : front_(std::move(front)),
      state_(std::move(state)),
      listener_(std::move(listener)),
      port_(port) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::begin_stop() {
  if (state_->is_stopping.exchange(true)) return;
  grace_ends_ = std::chrono::steady_clock::now() + state_->options.stop_grace;
  front_->remove(*listener_);
  front_->close_connections(*state_, Connection::State::kArmed);
  state_->streams->begin_stop();
}

void HttpServer::stop() {
  begin_stop();
  if (state_->is_stopped) return;
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_until(lock, grace_ends_, [&] { return state_->connections == 0; });
  lock.unlock();
  state_->is_stopped = true;
  front_->close_connections(*state_, Connection::State::kParked);
  lock.lock();
  // The handler must outlive all calls of it, however long they take.
  state_->changed.wait(lock, [&] { return state_->serving == 0; });
  lock.unlock();
  state_->streams->stop();
}

http::StreamCounts HttpServer::stream_counts() const { return state_->streams->counts(); }

}  // namespace league::transport::front
