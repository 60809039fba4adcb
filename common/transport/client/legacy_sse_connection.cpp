#include "common/transport/client/legacy_sse_connection.h"

#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/connection_parts.h"
#include "common/transport/client/event_stream.h"
#include "common/transport/client/post_drain.h"
#include "common/transport/client/url_reference.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport::client {

namespace {

constexpr std::size_t kMaxRefusal = 1024;
/// How long the body of a POST's answer is read, so that the connection can be reused, and how much
/// of it is kept.
constexpr std::chrono::seconds kLongestPostAnswer{1};
constexpr std::size_t kMaxPostAnswer = 64 * 1024;

/// Reports success when the head arrives, or the refusal with its text when the body is complete.
class LegacyPost final : public HttpSink {
 public:
  LegacyPost(std::shared_ptr<PostDrain> posts, link::Endpoint endpoint,
             link::OutboundMessage message)
      : posts_(std::move(posts)), endpoint_(std::move(endpoint)), message_(std::move(message)) {}
  void run_in(const std::shared_ptr<PoolExchange>& exchange) { exchange_ = exchange; }

  void on_head(const ResponseHead& head) override {
    status_ = head.status;
    auto exchange = exchange_.lock();
    context_ = context_of_answer(head, "POST", endpoint_.path, exchange->connection());
    exchange->set_deadline(std::chrono::steady_clock::now() + kLongestPostAnswer);
    if (status_ / 100 == 2) report(std::nullopt);
  }

  void on_body(std::string_view piece) override {
    if (body_.size() < kMaxPostAnswer) {
      body_.append(piece);
      return;
    }
    auto exchange = exchange_.lock();
    on_end(nullptr);
    exchange->cancel();
  }

  void on_end(const HttpFault* fault) override {
    if (std::exchange(is_over_, true)) return;
    posts_->on_over(message_);
    if (status_ != 0) {
      report(refusal("POST", endpoint_, status_, body_));
    } else if (fault != nullptr) {
      report(fault->error);
    }
  }

 private:
  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true)) return;
    const auto exchange = exchange_.lock();
    tell(message_, std::move(error), status_, context_,
         exchange != nullptr && exchange->sent_at().has_value());
    posts_->on_sent();
  }

  const std::shared_ptr<PostDrain> posts_;
  const link::Endpoint endpoint_;
  const link::OutboundMessage message_;
  std::weak_ptr<PoolExchange> exchange_;
  int status_ = 0;
  rpc::MessageContext context_;
  std::string body_;
  bool has_reported_ = false;
  bool is_over_ = false;
};

/// One connection on the event loop's thread: its stream, and the POSTs beside it.
class LegacySseCore final : public HttpSink, public std::enable_shared_from_this<LegacySseCore> {
 public:
  LegacySseCore(link::EventLoop& loop, const link::Endpoint& endpoint, LegacySseOptions options)
      : loop_(loop),
        endpoint_(endpoint),
        options_(std::move(options)),
        pool_(std::make_shared<HttpPool>(loop, endpoint, options_.limits)),
        posts_(std::make_shared<PostDrain>(loop, options_.limits)),
        events_(options_.limits),
        receive_buffer_([this] { set_stream_reading(); }) {}

  void open(core::Clock::Steady deadline, HttpConnector::OpenedOrFailed opened) {
    opened_ = std::move(opened);
    HttpRequest request;
    request.method = "GET";
    request.target = endpoint_.path;
    request.headers = {{"Accept", std::string(link::kEventStreamType)},
                       {"Cache-Control", "no-cache"}};
    request.headers.insert(request.headers.end(), options_.stream_headers.begin(),
                           options_.stream_headers.end());
    request.deadline = deadline;
    request.is_listening = true;
    stream_ = pool_->start(std::move(request), shared_from_this());
  }

  void start(std::shared_ptr<link::MessageReceiver> receiver) {
    receive_buffer_.start(std::move(receiver));
  }

  void send(link::OutboundMessage message) {
    if (receive_buffer_.is_closed() || is_closing_) {
      return tell(message, core::Error{core::ErrorCode::kShuttingDown,
                                       "the connection to " + endpoint_.url() + " is closed",
                                       {}});
    }
    HttpRequest request;
    if (!posts_->add(message, endpoint_, request)) return;
    request.target = target_;
    request.headers = {{"Content-Type", std::string(link::kJsonType)}};
    for (const HttpHeaders* more : {&options_.post_headers, &std::as_const(message).headers}) {
      request.headers.insert(request.headers.end(), more->begin(), more->end());
    }
    link::Endpoint called = endpoint_;
    called.path = target_;
    auto post = std::make_shared<LegacyPost>(posts_, std::move(called), std::move(message));
    post->run_in(pool_->start(std::move(request), post));
  }

  void set_reading(bool is_on) {
    receive_buffer_.set_reading(is_on);
    if (is_on) {
      receive_buffer_.drain();
    } else {
      set_stream_reading();
    }
  }

  void close() {
    if (is_closing_) return;
    is_closing_ = true;
    posts_->when_sent([self = shared_from_this()] {
      self->finish({core::ErrorCode::kShuttingDown,
                    "the connection to " + self->endpoint_.url() + " was closed",
                    {}});
    });
  }

  [[nodiscard]] static rpc::TransportType transport_type() { return rpc::TransportType::kSse; }
  [[nodiscard]] rpc::TransportContext current_context() const {
    return rpc::TransportContext::http(nullptr, "POST", rpc::SharedText(target_))
        .with_connection(context_.transport.connection);
  }

  void on_head(const ResponseHead& head) override {
    status_ = head.status;
    media_type_ = head.media_type();
    context_ = context_of_answer(head, "GET", endpoint_.path, stream_.lock()->connection());
    events_.begin(context_);
  }

  void on_body(std::string_view piece) override {
    if (is_event_stream()) {
      bool is_fine = events_.feed(
          piece,
          [this](link::ReceivedMessage message) {
            if (!opened_) receive_buffer_.deliver(std::move(message));
          },
          [this](const link::SseEvent& event) {
            if (opened_ && event.type == "endpoint") on_endpoint(event.data);
          });
      if (!is_fine) fail(core::ErrorCode::kReplyTooLarge, events_.fault());
    } else {
      refusal_.append(piece);
      if (refusal_.size() >= kMaxRefusal) refuse();
    }
  }

  void on_end(const HttpFault* fault) override {
    if (status_ != 0 && !is_event_stream()) return refuse();
    if (fault != nullptr) return finish(fault->error, true);
    fail(core::ErrorCode::kConnectionError, "the server ended it");
  }

 private:
  [[nodiscard]] bool is_event_stream() const {
    return status_ == 200 && media_type_ == link::kEventStreamType;
  }

  void on_endpoint(std::string_view reference);

  /// Back-pressure: before the start there is nothing to read, and the receiver may pause reading.
  void set_stream_reading() {
    auto stream = stream_.lock();
    if (!opened_ && stream)
      stream->set_reading(receive_buffer_.is_reading() || receive_buffer_.is_closed());
  }

  void refuse() {
    finish(status_ == 200
               ? wrong_type("GET", endpoint_, media_type_, link::kEventStreamType, refusal_)
               : refusal("GET", endpoint_, status_, refusal_));
  }

  void fail(core::ErrorCode code, const std::string& cause) {
    std::string phase =
        opened_ ? "the event stream of " + endpoint_.url() + " failed before its event `endpoint`: "
                : "the event stream of " + endpoint_.url() + " failed: ";
    finish({code, phase + cause, {}});
  }

  /// `is_stream_fault`: the text is an error of the exchange and does not say what was expected.
  void finish(core::Error why, bool is_stream_fault = false) {
    if (receive_buffer_.is_closed()) return;
    auto opened = std::exchange(opened_, nullptr);
    if (opened && is_stream_fault && status_ == 200) why.message += " (waiting for `endpoint`)";
    bool is_ours = why.code == core::ErrorCode::kShuttingDown;
    if (is_ours) {
      receive_buffer_.close_now(why);
    } else {
      receive_buffer_.close(why);
    }
    if (auto stream = stream_.lock()) stream->cancel();
    pool_->close();
    const auto* head = context_.transport.as_http();
    if (opened)
      opened(ConnectFailure{std::move(why), status_, head != nullptr ? head->headers : nullptr});
  }

  link::EventLoop& loop_;
  const link::Endpoint endpoint_;
  const LegacySseOptions options_;
  const std::shared_ptr<HttpPool> pool_;
  const std::shared_ptr<PostDrain> posts_;
  EventStream events_;
  link::ReceiveBuffer receive_buffer_;
  HttpConnector::OpenedOrFailed opened_;  ///< null once it was called
  std::weak_ptr<PoolExchange> stream_;
  int status_ = 0;
  std::string media_type_;
  std::string refusal_;
  std::string target_;  ///< of POSTs; set before the connection is visible to others
  rpc::MessageContext context_;
  bool is_closing_ = false;
};

void LegacySseCore::on_endpoint(std::string_view reference) {
  auto resolved = resolve_reference(endpoint_, reference);
  if (!resolved) return finish(resolved.error());
  target_ = std::move(resolved->path);
  stream_.lock()->set_deadline(core::Clock::Steady::max());
  auto opened = std::exchange(opened_, nullptr);
  set_stream_reading();
  opened(std::shared_ptr<link::MessageConnection>(
      std::make_shared<ConnectionHandle<link::MessageConnection, LegacySseCore>>(
          loop_, shared_from_this())));
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
  loop_.post([core = std::make_shared<LegacySseCore>(loop_, endpoint, options_), deadline,
              opened = std::move(opened)] { core->open(deadline, opened); });
}

}  // namespace league::transport::client
