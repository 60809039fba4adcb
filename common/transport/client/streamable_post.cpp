#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/client/event_stream.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport {

namespace {

/// How often a stream is requested again without receiving a new event.
constexpr int kMaxResumptions = 5;
/// How long a server may take to end a stream after it has sent the answer.
constexpr std::chrono::seconds kStreamEnd{1};

class StreamablePost final : public StreamableTask,
                             public std::enable_shared_from_this<StreamablePost> {
 public:
  StreamablePost(std::shared_ptr<StreamableShared> shared, OutboundMessage message)
      : shared_(std::move(shared)),
        message_(std::move(message)),
        request_(rpc::peek_frame(message_.bytes)),
        events_(shared_->options.limits),
        timer_(shared_->loop.context()) {}

  void begin() {
    ++shared_->unsent;
    shared_->bytes += message_.bytes.size();
    shared_->tasks.insert(shared_from_this());
    HttpRequest request;
    request.target = shared_->endpoint.path;
    request.headers = shared_->headers({{"Content-Type", std::string(kJsonType)},
                                        {"Accept", "application/json, text/event-stream"}},
                                       message_.headers);
    request.body = message_.bytes.share();
    request.is_listening = message_.is_listening;
    request.deadline = message_.deadline;
    if (request.deadline == core::Clock::Steady::max()) {
      request.deadline =
          std::chrono::steady_clock::now() + shared_->options.limits.default_patience;
    }
    exchange_ = shared_->pool->start(std::move(request), shared_from_this());
  }

  void on_head(const ResponseHead& head) override;
  void on_body(std::string_view piece) override;
  void on_end(const HttpFault* fault) override;

  void stop() override {
    end(core::Error{core::ErrorCode::kShuttingDown,
                    "the connection to " + shared_->endpoint.url() + " was closed",
                    {}});
  }
  void abandon(const rpc::Id& id) override {
    if (request_.kind != rpc::FrameKind::kRequest || request_.id != id) return;
    end(core::Error{core::ErrorCode::kShuttingDown, "nobody waits for the answer any more", {}});
  }
  void set_reading(bool is_on) override {
    auto exchange = exchange_.lock();
    if (exchange && form_ == Form::kEvents) exchange->set_reading(is_on);
  }

 private:
  enum class Form { kNone, kEvents, kWhole, kNothing };

  [[nodiscard]] bool wants_answer() const {
    return request_.kind == rpc::FrameKind::kRequest || request_.kind == rpc::FrameKind::kBatch;
  }
  void on_event(ReceivedMessage message);
  void on_whole();
  void on_stream_end(const HttpFault* fault);
  void resume();
  void ask_again();

  /// Reports that the head has arrived, or that it will not arrive.
  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true)) return;
    tell(message_, std::move(error), status_, context_);
    shared_->on_sent();
  }
  /// The exchange has ended; an error is reported if the message still waits for a result.
  void end(std::optional<core::Error> error) {
    if (std::exchange(is_over_, true)) return;
    auto self = shared_from_this();
    timer_.cancel();
    if (auto exchange = exchange_.lock()) exchange->cancel();
    shared_->bytes -= message_.bytes.size();
    shared_->tasks.erase(self);
    bool is_lost = has_reported_ && error && wants_answer() && !is_answered_;
    if (is_lost && message_.lost) message_.lost(*error);
    report(std::move(error));
  }
  [[nodiscard]] core::Error too_large() const {
    return {core::ErrorCode::kReplyTooLarge,
            "the answer of " + shared_->endpoint.url() + " is larger than " +
                std::to_string(shared_->options.limits.max_message) + " bytes",
            {}};
  }

  const std::shared_ptr<StreamableShared> shared_;
  const OutboundMessage message_;
  const rpc::FramePeek request_;
  EventStream events_;
  boost::asio::steady_timer timer_;
  std::weak_ptr<PoolExchange> exchange_;
  Form form_ = Form::kNone;
  int status_ = 0;
  std::string media_type_;
  rpc::MessageContext context_;
  std::string body_;
  int resumptions_ = 0;  ///< since the last event
  bool is_resuming_ = false;
  bool is_answered_ = false;
  bool has_reported_ = false;
  bool is_over_ = false;
};

void StreamablePost::on_head(const ResponseHead& head) {
  status_ = head.status;
  media_type_ = head.media_type();
  std::string_view method = is_resuming_ ? "GET" : "POST";
  context_ =
      context_of_answer(head, method, shared_->endpoint.path, exchange_.lock()->connection());
  bool is_fine = status_ / 100 == 2;
  if (is_fine && media_type_ == kEventStreamType) {
    form_ = Form::kEvents;
    events_.begin(context_);
    exchange_.lock()->set_deadline(message_.deadline);
    exchange_.lock()->set_reading(shared_->receive_buffer.is_reading());
  } else if (status_ == 202 || status_ == 204) {
    form_ = Form::kNothing;
  } else {
    form_ = Form::kWhole;
  }
  bool is_clear = form_ != Form::kWhole || is_json_type(media_type_);
  if (is_fine && is_clear) report(std::nullopt);
}

void StreamablePost::on_body(std::string_view piece) {
  if (form_ == Form::kEvents) {
    auto self = shared_from_this();
    bool is_fine = events_.feed(piece, [this](ReceivedMessage message) {
      if (!is_over_) on_event(std::move(message));
    });
    if (!is_fine) end(core::Error{core::ErrorCode::kReplyTooLarge, events_.fault(), {}});
  } else if (form_ == Form::kWhole) {
    if (body_.size() + piece.size() > shared_->options.limits.max_message) return end(too_large());
    body_.append(piece);
  }
}

void StreamablePost::on_event(ReceivedMessage message) {
  resumptions_ = 0;
  if (!is_answered_ && wants_answer()) {
    auto peek = rpc::peek_frame(message.bytes);
    is_answered_ = peek.kind == rpc::FrameKind::kResponse &&
                   (request_.kind != rpc::FrameKind::kRequest || peek.id == request_.id);
    if (is_answered_ && request_.kind == rpc::FrameKind::kRequest) {
      exchange_.lock()->set_deadline(std::chrono::steady_clock::now() + kStreamEnd);
    }
  }
  if (request_.kind == rpc::FrameKind::kRequest) message.by_answer_to = request_.id;
  shared_->receive_buffer.deliver(std::move(message));
}

void StreamablePost::on_end(const HttpFault* fault) {
  if (is_over_) return;
  if (form_ == Form::kEvents || is_resuming_) return on_stream_end(fault);
  if (fault != nullptr) return end(fault->error);
  if (form_ == Form::kWhole) return on_whole();
  end(std::nullopt);
}

void StreamablePost::on_whole() {
  bool is_fine = status_ / 100 == 2;
  bool is_message = looks_like_json(body_);
  if (!is_fine && is_message) {
    is_message = rpc::peek_frame(body_).kind == rpc::FrameKind::kResponse;
  }
  auto error = is_fine ? wrong_type("POST", shared_->endpoint, media_type_,
                                    "application/json or text/event-stream", body_)
                       : refusal("POST", shared_->endpoint, status_, body_);
  bool is_good = is_fine && (is_message || body_.empty());
  // The peer's own error says more than its status, so it is delivered first.
  if (is_message) shared_->receive_buffer.deliver({{std::move(body_), context_}});
  end(is_good ? std::nullopt : std::optional(std::move(error)));
}

void StreamablePost::on_stream_end(const HttpFault* fault) {
  if (is_answered_ || !wants_answer()) return end(std::nullopt);
  bool is_refused = is_resuming_ && status_ != 0 && form_ != Form::kEvents;
  if (is_refused) return end(refusal("GET", shared_->endpoint, status_, body_));
  bool is_late = fault != nullptr && fault->error.code == core::ErrorCode::kTimeout &&
                 std::chrono::steady_clock::now() >= message_.deadline;
  if (is_late || events_.last_event_id().empty() || resumptions_ >= kMaxResumptions) {
    auto why = fault != nullptr
                   ? fault->error
                   : core::Error{core::ErrorCode::kConnectionError,
                                 "the event stream that answered the POST of " +
                                     shared_->endpoint.url() + " ended without the answer",
                                 {}};
    return end(std::move(why));
  }
  resume();
}

/// Waits as long as the server asked, then continues after the last event.
void StreamablePost::resume() {
  ++resumptions_;
  auto at = std::chrono::steady_clock::now() + events_.retry_or(shared_->options.retry);
  timer_.expires_at(std::min(at, message_.deadline));
  timer_.async_wait([self = shared_from_this()](boost::system::error_code fault) {
    if (!fault && !self->is_over_) self->ask_again();
  });
}

void StreamablePost::ask_again() {
  if (std::chrono::steady_clock::now() >= message_.deadline) {
    return end(core::Error{core::ErrorCode::kTimeout,
                           "the answer of " + shared_->endpoint.url() +
                               " broke off, and the deadline came before the server wanted to be "
                               "asked again",
                           {}});
  }
  is_resuming_ = true;
  form_ = Form::kNone;
  status_ = 0;
  HttpRequest request;
  request.method = "GET";
  request.target = shared_->endpoint.path;
  request.headers = shared_->headers(
      {{"Accept", std::string(kEventStreamType)}, {"Last-Event-ID", events_.last_event_id()}},
      message_.headers);
  request.deadline = message_.deadline;
  request.is_listening = true;
  exchange_ = shared_->pool->start(std::move(request), shared_from_this());
}

}  // namespace

void start_post(const std::shared_ptr<StreamableShared>& shared, OutboundMessage message) {
  std::size_t most = shared->options.limits.max_waiting;
  if (shared->bytes + message.bytes.size() > most) {
    return tell(message, core::Error{core::ErrorCode::kOverloaded,
                                     "more than " + std::to_string(most) +
                                         " bytes wait to be sent to " + shared->endpoint.url(),
                                     {}});
  }
  std::make_shared<StreamablePost>(shared, std::move(message))->begin();
}

}  // namespace league::transport
