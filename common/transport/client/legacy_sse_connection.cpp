#include "common/transport/client/legacy_sse_connection.h"

#include <utility>

#include "common/transport/client/connection_handle.h"
#include "common/transport/client/connection_parts.h"
#include "common/transport/client/post_drain.h"
#include "common/transport/client/url_reference.h"
#include "common/transport/link/receive_buffer.h"

namespace league::transport {

namespace {

constexpr std::size_t kMaxRefusal = 1024;

/// One connection on the event loop's thread: its stream, and the POSTs beside it.
class LegacySseCore final : public HttpSink, public std::enable_shared_from_this<LegacySseCore> {
 public:
  LegacySseCore(EventLoop& loop, const Endpoint& endpoint, LegacySseOptions options)
      : loop_(loop),
        endpoint_(endpoint),
        options_(std::move(options)),
        pool_(std::make_shared<HttpPool>(loop, endpoint, options_.limits)),
        posts_(loop, options_.limits),
        parser_({options_.limits.max_message + 64, options_.limits.max_message}),
        receive_buffer_([this] { set_stream_reading(); }) {}

  void open(core::Clock::Steady deadline, HttpConnector::OpenedOrFailed opened) {
    opened_ = std::move(opened);
    HttpRequest request;
    request.method = "GET";
    request.target = endpoint_.path;
    request.headers = {{"Accept", std::string(kEventStreamType)}, {"Cache-Control", "no-cache"}};
    request.headers.insert(request.headers.end(), options_.stream_headers.begin(),
                           options_.stream_headers.end());
    request.deadline = deadline;
    request.is_listening = true;
    stream_ = pool_->start(std::move(request), shared_from_this());
  }

  void start(std::shared_ptr<MessageReceiver> receiver) {
    receive_buffer_.start(std::move(receiver));
  }

  void send(OutboundMessage message) {
    if (receive_buffer_.is_closed() || is_closing_) {
      return tell(message, core::Error{core::ErrorCode::kShuttingDown,
                                       "the connection to " + endpoint_.url() + " is closed",
                                       {}});
    }
    HttpRequest request;
    request.target = target_;
    request.headers = {{"Content-Type", std::string(kJsonType)}};
    for (const HttpHeaders* more : {&options_.post_headers, &std::as_const(message).headers}) {
      request.headers.insert(request.headers.end(), more->begin(), more->end());
    }
    posts_.start(*pool_, std::move(request), std::move(message), target_);
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
    posts_.when_sent([self = shared_from_this()] {
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
    stream_id_ = context_.transport.connection->connection_id;
  }

  void on_body(std::string_view piece) override {
    if (is_event_stream()) {
      bool is_fine = parser_.feed(piece, [this](SseEvent event) { on_event(std::move(event)); });
      if (!is_fine) fail(core::ErrorCode::kReplyTooLarge, parser_.fault());
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
    return status_ == 200 && media_type_ == kEventStreamType;
  }

  void on_event(SseEvent event) {
    if (opened_) {
      if (event.type == "endpoint") on_endpoint(event.data);
    } else if (event.type == "message" && !event.data.empty()) {
      auto context = context_of_event(event, parser_.last_event_id(), stream_id_, context_);
      receive_buffer_.deliver({{std::move(event.data), std::move(context)}});
    }
  }

  void on_endpoint(std::string_view reference);

  /// Back-pressure: before the start there is nothing to read, and the receiver may pause reading.
  void set_stream_reading() {
    auto stream = stream_.lock();
    if (!opened_ && stream)
      stream->set_reading(receive_buffer_.is_reading() || receive_buffer_.is_closed());
  }

  void refuse() {
    finish(status_ == 200 ? wrong_type("GET", endpoint_, media_type_, kEventStreamType, refusal_)
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

  EventLoop& loop_;
  const Endpoint endpoint_;
  const LegacySseOptions options_;
  const std::shared_ptr<HttpPool> pool_;
  PostDrain posts_;
  SseParser parser_;
  ReceiveBuffer receive_buffer_;
  HttpConnector::OpenedOrFailed opened_;  ///< null once it was called
  std::weak_ptr<PoolExchange> stream_;
  int status_ = 0;
  std::string media_type_;
  std::string refusal_;
  std::string stream_id_;
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
  opened(std::shared_ptr<MessageConnection>(
      std::make_shared<ConnectionHandle<MessageConnection, LegacySseCore>>(loop_,
                                                                           shared_from_this())));
}

}  // namespace

LegacySseConnector::LegacySseConnector(EventLoop& loop, LegacySseOptions options)
    : loop_(loop), options_(std::move(options)) {}

void LegacySseConnector::open(const Endpoint& endpoint, core::Clock::Steady deadline,
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

}  // namespace league::transport
