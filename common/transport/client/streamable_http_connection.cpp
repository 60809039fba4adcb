#include "common/transport/client/streamable_http_connection.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport {

namespace {

/// When the connection is closed, requests that have begun may take this long to reach the server.
constexpr std::chrono::seconds kLongestGoodbye{1};

class StreamableCore final : public std::enable_shared_from_this<StreamableCore> {
 public:
  StreamableCore(EventLoop& loop, const Endpoint& endpoint, StreamableHttpOptions options)
      : shared_(std::make_shared<StreamableShared>(loop, endpoint, std::move(options))),
        close_timer_(loop.context()) {}

  void start(std::shared_ptr<MessageReceiver> receiver) {
    shared_->receive_buffer.start(std::move(receiver));
  }

  void send(OutboundMessage message) {
    if (is_closing_) return tell(message, closed());
    start_post(shared_, std::move(message));
  }
  void set_reading(bool is_on) {
    shared_->receive_buffer.set_reading(is_on);
    if (is_on) {
      shared_->receive_buffer.drain();
    } else {
      shared_->for_each_task([](StreamableTask& task) { task.set_reading(false); });
    }
  }
  void open_stream(HttpHeaders headers, StreamableHttpConnection::Done done) {
    if (!is_closing_) return start_listening(shared_, std::move(headers), std::move(done));
    if (done) done({closed(), 0, {}});
  }
  void abandon(const rpc::Id& id) {
    shared_->for_each_task([&id](StreamableTask& task) { task.abandon(id); });
  }
  void end_session(const HttpHeaders& headers, core::Clock::Steady deadline,
                   StreamableHttpConnection::Done done) {
    if (!is_closing_) return start_delete(shared_, headers, deadline, std::move(done));
    if (done) done({closed(), 0, {}});
  }

  void close() {
    if (is_closing_) return;
    is_closing_ = true;
    if (shared_->unsent == 0) return finish();
    auto finish_all =
        std::make_shared<std::function<void()>>([self = shared_from_this()] { self->finish(); });
    shared_->when_sent = finish_all;
    close_timer_.expires_after(kLongestGoodbye);
    close_timer_.async_wait([finish_all](boost::system::error_code fault) {
      if (!fault) (*finish_all)();
    });
  }

  [[nodiscard]] static rpc::TransportType transport_type() { return rpc::TransportType::kHttp; }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::http(nullptr, "POST", rpc::SharedText(shared_->endpoint.path));
  }

 private:
  [[nodiscard]] core::Error closed() const {
    return {core::ErrorCode::kShuttingDown,
            "the connection to " + shared_->endpoint.url() + " was closed",
            {}};
  }

  void finish() {
    if (shared_->receive_buffer.is_closed()) return;
    close_timer_.cancel();
    shared_->when_sent = {};
    shared_->for_each_task([](StreamableTask& task) { task.stop(); });
    shared_->pool->close();
    shared_->receive_buffer.close_now(closed());
  }

  const std::shared_ptr<StreamableShared> shared_;
  boost::asio::steady_timer close_timer_;
  bool is_closing_ = false;
};

class StreamableFacade final : public ConnectionHandle<StreamableHttpConnection, StreamableCore> {
 public:
  using ConnectionHandle::ConnectionHandle;
  void open_stream(HttpHeaders headers, Done done) override {
    run([headers = std::move(headers), done = std::move(done)](StreamableCore& core) mutable {
      core.open_stream(std::move(headers), std::move(done));
    });
  }
  void abandon(const rpc::Id& id) override {
    run([id](StreamableCore& core) { core.abandon(id); });
  }
  void end_session(HttpHeaders headers, core::Clock::Steady deadline, Done done) override {
    run([headers = std::move(headers), deadline,
         done = std::move(done)](StreamableCore& core) mutable {
      core.end_session(headers, deadline, std::move(done));
    });
  }
};

}  // namespace

std::shared_ptr<StreamableHttpConnection> make_streamable_http_connection(
    EventLoop& loop, const Endpoint& endpoint, StreamableHttpOptions options) {
  return std::make_shared<StreamableFacade>(
      loop, std::make_shared<StreamableCore>(loop, endpoint, std::move(options)));
}

StreamableHttpConnector::StreamableHttpConnector(EventLoop& loop, StreamableHttpOptions options)
    : loop_(loop), options_(std::move(options)) {}

void StreamableHttpConnector::connect(const Endpoint& endpoint, core::Clock::Steady /*deadline*/,
                                      Opened opened) {
  if (endpoint.scheme != "http" && endpoint.scheme != "https") {
    return opened(core::Error{
        core::ErrorCode::kEndpointNotAllowed,
        "an endpoint " + endpoint.scheme + "://… is not an HTTP server; use http:// or https://",
        {}});
  }
  opened(std::shared_ptr<MessageConnection>(
      make_streamable_http_connection(loop_, endpoint, options_)));
}

}  // namespace league::transport
