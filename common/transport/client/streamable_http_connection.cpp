#include "common/transport/client/streamable_http_connection.h"

#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

/// How much of a refusal's body is kept for its text.
constexpr std::size_t kMaxRefusalText = 1024;

class StreamableCore final : public std::enable_shared_from_this<StreamableCore> {
 public:
  StreamableCore(link::EventLoop& loop, const link::Endpoint& endpoint,
                 StreamableHttpOptions options)
      : shared_(std::make_shared<StreamableShared>(loop, endpoint, std::move(options))) {}

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    shared_->receive_buffer.start(std::move(receiver));
  }

  void send(link::OutboundMessage message) {
    if (is_closing_) return tell(message, shared_->closed());
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
    if (done) done({shared_->closed(), 0, {}});
  }
  void abandon(const rpc::Id& id) {
    shared_->for_each_task([&id](StreamableTask& task) { task.abandon(id); });
  }
  void end_session(const HttpHeaders& headers, core::Clock::Steady deadline,
                   StreamableHttpConnection::Done done) {
    if (!is_closing_) return start_delete(shared_, headers, deadline, std::move(done));
    if (done) done({shared_->closed(), 0, {}});
  }

  void close() {
    if (is_closing_) return;
    is_closing_ = true;
    shared_->posts->when_sent([self = shared_from_this()] { self->finish(); });
  }

  [[nodiscard]] static rpc::TransportType transport_type() { return rpc::TransportType::kHttp; }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::http(nullptr, "POST", rpc::SharedText(shared_->endpoint.path));
  }

 private:
  void finish() {
    if (shared_->receive_buffer.is_closed()) return;
    shared_->for_each_task([](StreamableTask& task) { task.stop(); });
    shared_->pool->close();
    shared_->receive_buffer.close_now(shared_->closed());
  }

  const std::shared_ptr<StreamableShared> shared_;
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

StreamableShared::StreamableShared(link::EventLoop& its_loop, const link::Endpoint& its_endpoint,
                                   StreamableHttpOptions its_options)
    : loop(its_loop),
      endpoint(its_endpoint),
      options(std::move(its_options)),
      pool(std::make_shared<HttpPool>(loop, endpoint, options.limits)),
      posts(std::make_shared<PostDrain>(loop, options.limits)),
      receive_buffer([this] {
        for_each_task(
            [this](StreamableTask& task) { task.set_reading(receive_buffer.is_reading()); });
      }) {}

void StreamableShared::for_each_task(const std::function<void(StreamableTask&)>& what) const {
  for (const auto& owned : std::set(tasks)) {
    if (auto task = owned.lock()) what(*task);
  }
}

core::Error StreamableShared::closed() const {
  return {
      core::ErrorCode::kShuttingDown, "the connection to " + endpoint.url() + " was closed", {}};
}

StreamableTask::StreamableTask(std::shared_ptr<StreamableShared> shared)
    : shared_(std::move(shared)),
      events_(shared_->options.limits),
      timer_(shared_->loop.context()) {}

void StreamableTask::set_reading(bool is_on) {
  auto exchange = exchange_.lock();
  if (exchange && is_streaming_) exchange->set_reading(is_on);
}

void StreamableTask::on_head(const ResponseHead& head) {
  status_ = head.status;
  media_type_ = head.media_type();
  context_ =
      context_of_answer(head, method_, shared_->endpoint.path, exchange_.lock()->connection());
}

HttpHeaders StreamableTask::headers(HttpHeaders first, const HttpHeaders& more) const {
  const HttpHeaders& own = shared_->options.headers;
  first.insert(first.end(), own.begin(), own.end());
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

HttpRequest StreamableTask::stream_request(const HttpHeaders& more) const {
  HttpHeaders first{{"Accept", std::string(link::kEventStreamType)}};
  if (!events_.last_event_id().empty()) {
    first.emplace_back("Last-Event-ID", events_.last_event_id());
  }
  HttpRequest request;
  request.method = "GET";
  request.headers = headers(std::move(first), more);
  request.is_repeatable = true;
  request.is_listening = true;
  return request;
}

void StreamableTask::send(HttpRequest request) {
  shared_->tasks.insert(weak_from_this());
  method_ = request.method;
  status_ = 0;
  body_.clear();
  is_streaming_ = false;
  request.target = shared_->endpoint.path;
  exchange_ = shared_->pool->start(std::move(request), shared_from_this());
}

void StreamableTask::begin_events(core::Clock::Steady deadline) {
  is_streaming_ = true;
  events_.begin(context_);
  auto exchange = exchange_.lock();
  exchange->set_deadline(deadline);
  exchange->set_reading(shared_->receive_buffer.is_reading());
}

void StreamableTask::read_events(std::string_view piece) {
  auto self = shared_from_this();
  bool is_fine = events_.feed(piece, [this](link::ReceivedMessage message) {
    if (!is_over_) on_event(std::move(message));
  });
  if (!is_fine) end(core::Error{core::ErrorCode::kReplyTooLarge, events_.fault(), {}});
}

void StreamableTask::wait_until(core::Clock::Steady then) {
  timer_.expires_at(then);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code fault) {
    if (!fault && !self->is_over_) self->ask_again();
  });
}

void StreamableTask::end(std::optional<core::Error> error) {
  if (std::exchange(is_over_, true)) return;
  auto self = shared_from_this();
  timer_.cancel();
  if (auto exchange = exchange_.lock()) exchange->cancel();
  shared_->tasks.erase(self);
  on_over(std::move(error));
}

void StreamableTask::keep_excerpt(std::string_view piece) {
  if (body_.size() < kMaxRefusalText) body_.append(piece);
}

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
