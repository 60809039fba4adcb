#include <algorithm>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

using link::Task;

/// How long a server may take to end a stream after it has sent the answer.
constexpr std::chrono::seconds kStreamEnd{1};

class StreamablePost final : public RequestTask {
 public:
  /// `request` has the message as its body.
  StreamablePost(std::shared_ptr<RequestScope> scope, link::OutboundMessage message,
                 HttpRequest request)
      : RequestTask(std::move(scope)),
        message_(std::move(message)),
        frame_(rpc::peek_frame(message_.bytes)),
        request_(std::move(request)) {}

  void abandon(const rpc::Id& id) override {
    if (frame_.kind != rpc::FrameKind::kRequest || frame_.id != id) return;
    end(core::Error{core::ErrorCode::kShuttingDown, "nobody waits for the answer any more", {}});
  }

 private:
  Task<Ending> run() override;
  Task<Ending> take_whole();
  Task<Ending> ask_for_rest();
  void on_message(link::ReceivedMessage message) override;

  [[nodiscard]] bool wants_answer() const {
    return frame_.kind == rpc::FrameKind::kRequest || frame_.kind == rpc::FrameKind::kBatch;
  }
  [[nodiscard]] bool is_event_stream() const {
    return is_fine() && media_type_ == link::kEventStreamType;
  }
  [[nodiscard]] bool is_final(const core::Error& fault) const {
    const bool is_late = fault.code == core::ErrorCode::kTimeout &&
                         std::chrono::steady_clock::now() >= message_.deadline;
    return is_late || fault.code == core::ErrorCode::kReplyTooLarge || is_plain();
  }

  /// Reports that the head has arrived, or that it will not arrive.
  void report(Ending error) {
    if (std::exchange(has_reported_, true)) return;
    tell(message_, std::move(error), status_, context_);
    scope_->on_sent();
  }

  /// An error is reported if the message still waits for a result.
  void on_over(Ending error) override {
    scope_->on_over(message_);
    bool is_lost = has_reported_ && error && wants_answer() && !is_answered_;
    if (is_lost && message_.lost) message_.lost(*error);
    report(std::move(error));
  }

  const link::OutboundMessage message_;
  const rpc::FramePeek frame_;
  HttpRequest request_;
  bool is_answered_ = false;
  bool has_reported_ = false;
};

Task<RequestTask::Ending> StreamablePost::run() {
  if (auto fault = co_await ask(std::move(request_))) co_return fault;
  if (!is_event_stream()) co_return co_await take_whole();
  report(std::nullopt);
  Ending fault = co_await read_events(message_.deadline);
  while (!is_answered_ && wants_answer()) {
    if (!fault)
      fault = core::Error{core::ErrorCode::kConnectionError,
                          "the event stream that answered the POST of " + scope_->endpoint.url() +
                              " ended without the answer",
                          {}};
    if (is_final(*fault) || !events_.may_continue()) co_return fault;
    fault = co_await ask_for_rest();
  }
  co_return std::nullopt;
}

/// An answer that is no stream, and may be empty. The peer's own error says more than its status,
/// so it is delivered first.
Task<RequestTask::Ending> StreamablePost::take_whole() {
  const bool has_body = status_ != 202 && status_ != 204;
  if (is_fine() && (!has_body || link::is_json_type(media_type_))) report(std::nullopt);
  if (auto fault = co_await read_body(scope_->options.limits.max_message)) co_return fault;
  if (!has_body) co_return std::nullopt;
  const bool is_message = link::looks_like_json(body_) &&
                          (is_fine() || rpc::peek_frame(body_).kind == rpc::FrameKind::kResponse);
  Ending fault;
  if (!is_fine()) {
    fault = refusal("POST", scope_->endpoint, status_, body_);
  } else if (!is_message && !body_.empty()) {
    fault = wrong_type("POST", scope_->endpoint, media_type_,
                       "application/json or text/event-stream", body_);
  }
  if (is_message) scope_->receive_buffer.deliver({{std::move(body_), context_}});
  co_return fault;
}

/// Waits as long as the server asked, then continues the stream after its last event.
Task<RequestTask::Ending> StreamablePost::ask_for_rest() {
  events_.on_attempt();
  co_await pause(std::min(std::chrono::steady_clock::now() + events_.retry(), message_.deadline));
  if (std::chrono::steady_clock::now() >= message_.deadline)
    co_return core::Error{core::ErrorCode::kTimeout,
                          "the answer of " + scope_->endpoint.url() +
                              " broke off, and the deadline came before the server wanted to be "
                              "asked again",
                          {}};
  HttpRequest request = events_.request();
  request.target = scope_->endpoint.path;
  request.headers = scope_->headers(std::move(request.headers), message_.headers);
  request.deadline = message_.deadline;
  if (auto fault = co_await ask(std::move(request))) co_return fault;
  if (is_event_stream()) co_return co_await read_events(message_.deadline);
  const auto fault = co_await read_body(scope_->options.limits.max_message);
  if (fault && fault->code == core::ErrorCode::kReplyTooLarge) co_return fault;
  co_return refusal("GET", scope_->endpoint, status_, body_);
}

void StreamablePost::on_message(link::ReceivedMessage message) {
  if (!is_answered_ && wants_answer()) {
    auto peek = rpc::peek_frame(message.bytes);
    is_answered_ = peek.kind == rpc::FrameKind::kResponse &&
                   (frame_.kind != rpc::FrameKind::kRequest || peek.id == frame_.id);
    if (is_answered_ && frame_.kind == rpc::FrameKind::kRequest)
      deadline_.set(std::chrono::steady_clock::now() + kStreamEnd);
  }
  if (frame_.kind == rpc::FrameKind::kRequest) message.by_answer_to = frame_.id;
  scope_->receive_buffer.deliver(std::move(message));
}

}  // namespace

void start_post(const std::shared_ptr<RequestScope>& scope, link::OutboundMessage message) {
  auto request = scope->post_of(message, scope->endpoint.path,
                                {{"Content-Type", std::string(link::kJsonType)},
                                 {"Accept", "application/json, text/event-stream"}});
  if (!request) return;
  request->is_listening = message.is_listening;
  std::make_shared<StreamablePost>(scope, std::move(message), *std::move(request))->spawn();
}

}  // namespace league::transport::client
