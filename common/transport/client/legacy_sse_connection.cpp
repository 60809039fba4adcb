#include "common/transport/client/legacy_sse_connection.h"

#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/request_task.h"
#include "common/transport/client/url_reference.h"

namespace league::transport::client {

namespace {

using link::Task;

constexpr std::size_t kMaxRefusal = 1024;
/// How long the body of a POST's answer is read, so that the connection can be reused, and how much
/// of it is kept.
constexpr std::chrono::seconds kLongestPostAnswer{1};
constexpr std::size_t kMaxPostAnswer = 64 * 1024;

/// Reports success when the head arrives, or the refusal with its text when the body is complete.
class LegacyPost final : public RequestTask {
 public:
  LegacyPost(std::shared_ptr<RequestScope> scope, link::OutboundMessage message,
             HttpRequest request)
      : RequestTask(std::move(scope)),
        message_(std::move(message)),
        target_(request.target),
        request_(std::move(request)) {}

 private:
  Task<Ending> run() override {
    if (auto fault = co_await ask(std::move(request_))) co_return fault;
    deadline_.set(std::chrono::steady_clock::now() + kLongestPostAnswer);
    if (is_fine()) report(std::nullopt);
    co_return co_await read_body(kMaxPostAnswer);
  }

  void on_over(Ending error) override {
    scope_->on_over(message_);
    if (has_reported_) return;
    link::Endpoint called = scope_->endpoint;
    called.path = target_;
    report(status_ != 0 ? refusal("POST", called, status_, body_) : std::move(error));
  }

  void report(Ending error) {
    has_reported_ = true;
    tell(message_, std::move(error), status_, context_, exchange_->sent_at().has_value());
    scope_->on_sent();
  }

  const link::OutboundMessage message_;
  const std::string target_;
  HttpRequest request_;
  bool has_reported_ = false;
};

/// One connection on the event loop's thread: the task of its stream, and the POSTs beside it.
class LegacySseCore final : public RequestTask {
 public:
  LegacySseCore(link::EventLoop& loop, const link::Endpoint& endpoint,
                const LegacySseOptions& options, core::Clock::Steady deadline,
                HttpConnector::OpenedOrFailed opened)
      : RequestTask(std::make_shared<RequestScope>(
            loop, endpoint, StreamableHttpOptions{options.post_headers, options.limits})),
        stream_headers_(options.stream_headers),
        deadline_of_opening_(deadline),
        opened_(std::move(opened)) {}

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    scope_->receive_buffer.start(std::move(receiver));
  }

  void send(link::OutboundMessage message) {
    if (scope_->receive_buffer.is_closed() || is_closing_) {
      return tell(message, core::Error{core::ErrorCode::kShuttingDown,
                                       "the connection to " + scope_->endpoint.url() + " is closed",
                                       {}});
    }
    auto request =
        scope_->post_of(message, target_, {{"Content-Type", std::string(link::kJsonType)}});
    if (request)
      std::make_shared<LegacyPost>(scope_, std::move(message), *std::move(request))->spawn();
  }

  void set_reading(bool is_on) { scope_->set_reading(is_on); }

  void close() {
    if (std::exchange(is_closing_, true)) return;
    scope_->when_sent([self = shared_from_this(), this] { end(scope_->closed()); });
  }

  [[nodiscard]] static rpc::TransportType transport_type() { return rpc::TransportType::kSse; }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::http(nullptr, "POST", rpc::SharedText(target_))
        .with_connection(context_.transport.connection);
  }

 private:
  Task<Ending> run() override;
  void on_over(Ending why) override;

  void on_message(link::ReceivedMessage message) override {
    if (!opened_) scope_->receive_buffer.deliver(std::move(message));
  }
  void on_event(const link::SseEvent& event) override {
    if (opened_ && event.type == "endpoint") on_endpoint(event.data);
  }
  void on_endpoint(std::string_view reference);
  /// Until the event `endpoint` nobody receives messages.
  [[nodiscard]] bool may_read() const override { return opened_ || RequestTask::may_read(); }

  const HttpHeaders stream_headers_;
  const core::Clock::Steady deadline_of_opening_;
  HttpConnector::OpenedOrFailed opened_;  ///< null once it was called
  std::string target_;  ///< of POSTs; set before the connection is visible to others
  bool is_closing_ = false;
};

/// The whole stream: what it returns is why the connection closes.
Task<RequestTask::Ending> LegacySseCore::run() {
  const link::Endpoint& endpoint = scope_->endpoint;
  HttpRequest request;
  request.method = "GET";
  request.target = endpoint.path;
  request.headers = {{"Accept", std::string(link::kEventStreamType)},
                     {"Cache-Control", "no-cache"}};
  request.headers.insert(request.headers.end(), stream_headers_.begin(), stream_headers_.end());
  request.deadline = deadline_of_opening_;
  request.is_listening = true;
  if (auto fault = co_await ask(std::move(request))) co_return fault;
  if (status_ != 200 || media_type_ != link::kEventStreamType) {
    co_await read_body(kMaxRefusal);
    co_return status_ == 200
        ? wrong_type("GET", endpoint, media_type_, link::kEventStreamType, body_)
        : refusal("GET", endpoint, status_, body_);
  }
  auto fault = co_await read_events(deadline_of_opening_);
  if (fault && fault->code != core::ErrorCode::kReplyTooLarge) {
    if (opened_) fault->message += " (waiting for `endpoint`)";
    co_return fault;
  }
  if (!fault) fault = core::Error{core::ErrorCode::kConnectionError, "the server ended it", {}};
  fault->message = "the event stream of " + endpoint.url() +
                   (opened_ ? " failed before its event `endpoint`: " : " failed: ") +
                   fault->message;
  co_return fault;
}

void LegacySseCore::on_endpoint(std::string_view reference) {
  auto resolved = resolve_reference(scope_->endpoint, reference);
  if (!resolved) return end(resolved.error());
  target_ = std::move(resolved->path);
  deadline_.set(core::Clock::Steady::max());
  auto opened = std::exchange(opened_, nullptr);
  update_reading();
  auto self = std::static_pointer_cast<LegacySseCore>(shared_from_this());
  opened(std::shared_ptr<link::MessageConnection>(
      std::make_shared<ConnectionHandle<link::MessageConnection, LegacySseCore>>(scope_->loop,
                                                                                 std::move(self))));
}

void LegacySseCore::on_over(Ending why) {
  auto opened = std::exchange(opened_, nullptr);
  if (why->code == core::ErrorCode::kShuttingDown) {
    scope_->receive_buffer.close_now(*why);
  } else {
    scope_->receive_buffer.close(*why);
  }
  scope_->pool->close();
  scope_->for_each([](RequestTask& post) {
    post.end(post.named({core::ErrorCode::kShuttingDown, "the connection was closed", {}}));
  });
  const auto* head = context_.transport.as_http();
  if (opened)
    opened(ConnectFailure{*std::move(why), status_, head != nullptr ? head->headers : nullptr});
}

}  // namespace

LegacySseConnector::LegacySseConnector(link::EventLoop& loop, LegacySseOptions options)
    : loop_(loop), options_(std::move(options)) {}

void LegacySseConnector::open(const link::Endpoint& endpoint, core::Clock::Steady deadline,
                              OpenedOrFailed opened) {
  std::string_view scheme = endpoint.scheme;
  if (scheme.starts_with("sse+")) scheme.remove_prefix(4);
  if (scheme != "http" && scheme != "https") {
    return opened(ConnectFailure{
        {core::ErrorCode::kEndpointNotAllowed,
         "an endpoint " + endpoint.scheme + "://… has no event stream; use sse+http(s)://",
         {}}});
  }
  loop_.post([core = std::make_shared<LegacySseCore>(loop_, endpoint, options_, deadline,
                                                     std::move(opened))] { core->spawn(); });
}

}  // namespace league::transport::client
