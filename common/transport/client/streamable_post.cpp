#include <algorithm>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

/// How often a stream is requested again without receiving a new event.
constexpr int kMaxResumptions = 5;
/// How long a server may take to end a stream after it has sent the answer.
constexpr std::chrono::seconds kStreamEnd{1};

class StreamablePost final : public StreamableTask {
 public:
  StreamablePost(std::shared_ptr<StreamableShared> shared, link::OutboundMessage message)
      : StreamableTask(std::move(shared)),
        message_(std::move(message)),
        request_(rpc::peek_frame(message_.bytes)) {}

  /// `request` has the message as its body.
  void begin(HttpRequest request) {
    request.headers = headers({{"Content-Type", std::string(link::kJsonType)},
                               {"Accept", "application/json, text/event-stream"}},
                              message_.headers);
    request.is_listening = message_.is_listening;
    send(std::move(request));
  }

  void on_head(const ResponseHead& head) override;
  void on_body(std::string_view piece) override;
  void on_end(const HttpFault* fault) override;
  void abandon(const rpc::Id& id) override {
    if (request_.kind != rpc::FrameKind::kRequest || request_.id != id) return;
    end(core::Error{core::ErrorCode::kShuttingDown, "nobody waits for the answer any more", {}});
  }

 private:
  [[nodiscard]] bool wants_answer() const {
    return request_.kind == rpc::FrameKind::kRequest || request_.kind == rpc::FrameKind::kBatch;
  }
  void on_event(link::ReceivedMessage message) override;
  void on_whole();
  void on_stream_end(const HttpFault* fault);
  void ask_again() override;

  /// Reports that the head has arrived, or that it will not arrive.
  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true)) return;
    tell(message_, std::move(error), status_, context_);
    shared_->posts->on_sent();
  }

  /// An error is reported if the message still waits for a result.
  void on_over(std::optional<core::Error> error) override {
    shared_->posts->on_over(message_);
    bool is_lost = has_reported_ && error && wants_answer() && !is_answered_;
    if (is_lost && message_.lost) message_.lost(*error);
    report(std::move(error));
  }

  const link::OutboundMessage message_;
  const rpc::FramePeek request_;
  bool is_whole_ = false;  ///< the answer has a body and is no stream
  int resumptions_ = 0;  ///< since the last event
  bool is_resuming_ = false;
  bool is_answered_ = false;
  bool has_reported_ = false;
};

void StreamablePost::on_head(const ResponseHead& head) {
  StreamableTask::on_head(head);
  bool is_fine = status_ / 100 == 2;
  if (is_fine && media_type_ == link::kEventStreamType) {
    begin_events(message_.deadline);
  } else {
    is_whole_ = status_ != 202 && status_ != 204;
  }
  bool is_clear = !is_whole_ || link::is_json_type(media_type_);
  if (is_fine && is_clear) report(std::nullopt);
}

void StreamablePost::on_body(std::string_view piece) {
  if (is_streaming_) return read_events(piece);
  if (!is_whole_) return;
  std::size_t most = shared_->options.limits.max_message;
  if (body_.size() + piece.size() > most) {
    return end(core::Error{core::ErrorCode::kReplyTooLarge,
                           "the answer of " + shared_->endpoint.url() + " is larger than " +
                               std::to_string(most) + " bytes",
                           {}});
  }
  body_.append(piece);
}

void StreamablePost::on_event(link::ReceivedMessage message) {
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
  if (is_streaming_ || is_resuming_) return on_stream_end(fault);
  if (fault != nullptr) return end(fault->error);
  if (is_whole_) return on_whole();
  end(std::nullopt);
}

void StreamablePost::on_whole() {
  bool is_fine = status_ / 100 == 2;
  bool is_message = link::looks_like_json(body_);
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
  bool is_refused = is_resuming_ && status_ != 0 && !is_streaming_;
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
  // Waits as long as the server asked, then continues after the last event.
  ++resumptions_;
  auto at = std::chrono::steady_clock::now() + events_.retry_or(shared_->options.retry);
  wait_until(std::min(at, message_.deadline));
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
  is_whole_ = false;
  auto request = stream_request(message_.headers);
  request.deadline = message_.deadline;
  send(std::move(request));
}

}  // namespace

void start_post(const std::shared_ptr<StreamableShared>& shared, link::OutboundMessage message) {
  HttpRequest request;
  if (!shared->posts->add(message, shared->endpoint, request)) return;
  std::make_shared<StreamablePost>(shared, std::move(message))->begin(std::move(request));
}

}  // namespace league::transport::client
