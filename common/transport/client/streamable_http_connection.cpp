#include "common/transport/client/streamable_http_connection.h"

#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

class StreamableCore final : public std::enable_shared_from_this<StreamableCore> {
 public:
  StreamableCore(link::EventLoop& loop, const link::Endpoint& endpoint,
                 StreamableHttpOptions options)
      : scope_(std::make_shared<RequestScope>(loop, endpoint, std::move(options))) {}

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    scope_->receive_buffer.start(std::move(receiver));
  }

  void send(link::OutboundMessage message) {
    if (is_closing_) return tell(message, scope_->closed());
    start_post(scope_, std::move(message));
  }
  void set_reading(bool is_on) { scope_->set_reading(is_on); }
  void open_stream(HttpHeaders headers, StreamableHttpConnection::Done done) {
    if (!is_closing_) return start_listening(scope_, std::move(headers), std::move(done));
    if (done) done({scope_->closed(), 0, {}});
  }
  void abandon(const rpc::Id& id) {
    scope_->for_each([&id](RequestTask& task) { task.abandon(id); });
  }
  void end_session(const HttpHeaders& headers, core::Clock::Steady deadline,
                   StreamableHttpConnection::Done done) {
    if (!is_closing_) return start_delete(scope_, headers, deadline, std::move(done));
    if (done) done({scope_->closed(), 0, {}});
  }

  void close() {
    if (std::exchange(is_closing_, true)) return;
    scope_->when_sent([self = shared_from_this()] { self->finish(); });
  }

  [[nodiscard]] static rpc::TransportType transport_type() { return rpc::TransportType::kHttp; }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::http(nullptr, "POST", rpc::SharedText(scope_->endpoint.path));
  }

 private:
  void finish() {
    if (scope_->receive_buffer.is_closed()) return;
    scope_->for_each([this](RequestTask& task) { task.end(scope_->closed()); });
    scope_->pool->close();
    scope_->receive_buffer.close_now(scope_->closed());
  }

  const std::shared_ptr<RequestScope> scope_;
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
    link::EventLoop& loop, const link::Endpoint& endpoint, StreamableHttpOptions options) {
  return std::make_shared<StreamableFacade>(
      loop, std::make_shared<StreamableCore>(loop, endpoint, std::move(options)));
}

StreamableHttpConnector::StreamableHttpConnector(link::EventLoop& loop,
                                                 StreamableHttpOptions options)
    : loop_(loop), options_(std::move(options)) {}

void StreamableHttpConnector::connect(const link::Endpoint& endpoint,
                                      core::Clock::Steady /*deadline*/, Opened opened) {
  if (endpoint.scheme != "http" && endpoint.scheme != "https") {
    return opened(core::Error{
        core::ErrorCode::kEndpointNotAllowed,
        "an endpoint " + endpoint.scheme + "://… is not an HTTP server; use http:// or https://",
        {}});
  }
  opened(std::shared_ptr<link::MessageConnection>(
      make_streamable_http_connection(loop_, endpoint, options_)));
}

}  // namespace league::transport::client
