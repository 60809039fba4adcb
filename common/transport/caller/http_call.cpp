#include "common/transport/caller/http_call.h"

#include <algorithm>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/client/connection_parts.h"

namespace league::transport::caller {

namespace {

using core::ErrorCode;

/// How long to wait for the end of a stream after its answer has arrived.
constexpr std::chrono::milliseconds kStreamEndPatience{50};
constexpr int kMostVainAttempts = 5;
constexpr std::chrono::milliseconds kRetry{1000};  // until the server names a time

client::HttpClientLimits stream_limits(std::size_t max_response) {
  client::HttpClientLimits limits;
  limits.max_message = max_response;
  return limits;
}

}  // namespace

HttpCall::HttpCall(link::EventLoop& loop, link::OutboundCall call,
                   link::Caller::Completion completion, std::size_t max_response)
    : call_(std::move(call)),
      completion_(std::move(completion)),
      max_response_(max_response),
      timer_(loop.context()),
      events_(stream_limits(max_response)) {}

void HttpCall::wait_for_turn() {
  timer_.expires_at(call_.deadline);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code fault) {
    if (fault || self->pool_) return;
    self->fail(ErrorCode::kTimeout, "queue",
               "the deadline passed before it was this call's turn at this peer");
  });
}

void HttpCall::begin(std::shared_ptr<client::HttpPool> pool, std::function<void()> ended) {
  timer_.cancel();
  pool_ = std::move(pool);
  ended_ = std::move(ended);
  ask();
}

void HttpCall::stop() {
  ended_ = nullptr;
  timer_.cancel();
  fail(ErrorCode::kShuttingDown, pool_ ? "receive" : "queue", "this program is stopping");
  end();
}

/// Sends the request, or the GET that continues its answer.
void HttpCall::ask() {
  client::HttpRequest request;
  request.target = call_.endpoint.path;
  request.deadline = call_.deadline;
  if (events_.last_event_id().empty()) {
    request.headers = {{"Accept", "application/json, text/event-stream"},
                       {"Content-Type", std::string(link::kJsonType)}};
    request.headers.insert(request.headers.end(), call_.headers.begin(), call_.headers.end());
    request.body = call_.bytes.share();
    request.is_repeatable = call_.is_repeatable;
  } else {
    request.method = "GET";
    request.is_repeatable = true;
    request.headers = {{"Accept", std::string(link::kEventStreamType)},
                       {"Last-Event-ID", events_.last_event_id()}};
  }
  head_ = {};
  is_events_ = false;
  received_ = 0;
  exchange_ = pool_->start(std::move(request), shared_from_this());
}

void HttpCall::on_head(const client::ResponseHead& head) {
  head_ = head;
  auto exchange = exchange_.lock();
  context_ =
      client::context_of_answer(head, events_.last_event_id().empty() ? "POST" : "GET",
                                call_.endpoint.path, exchange ? exchange->connection() : nullptr);
  is_events_ = head.status == 200 && head.media_type() == link::kEventStreamType;
  if (is_events_) events_.begin(context_);
}

void HttpCall::on_body(std::string_view piece) {
  received_ += piece.size();
  if (received_ > max_response_) {
    fail(ErrorCode::kReplyTooLarge, "receive",
         "the answer is larger than " + std::to_string(max_response_) + " bytes");
    return end();
  }
  if (!is_events_) {
    body_.append(piece);
  } else if (!is_complete() && !events_.feed(piece, [this](link::ReceivedMessage message) {
               take(std::move(message));
             })) {
    fail(ErrorCode::kReplyTooLarge, "receive", events_.fault());
    end();
  }
}

/// The end of the stream usually arrives right after the answer, and then the connection can be
/// reused. The caller does not have to wait for that.
void HttpCall::take(link::ReceivedMessage message) {
  vain_attempts_ = 0;
  auto peek = rpc::peek_frame(message.bytes);
  bool is_answer =
      peek.kind == rpc::FrameKind::kResponse && (call_.id.is_null() || peek.id == call_.id);
  if (!is_answer || is_complete()) return;
  complete(answered(std::move(message)));
  auto until = std::chrono::steady_clock::now() + kStreamEndPatience;
  if (auto exchange = exchange_.lock()) exchange->set_deadline(std::min(call_.deadline, until));
}

void HttpCall::on_end(const client::HttpFault* fault) {
  if (is_complete()) return end();
  if (fault == nullptr && !is_events_) {
    complete(whole());
    return end();
  }
  bool is_final = fault != nullptr && fault->error.code != ErrorCode::kConnectionError;
  bool can_continue =
      !events_.last_event_id().empty() && vain_attempts_ < kMostVainAttempts && !is_final;
  if (is_events_ && can_continue) return wait_to_continue();
  if (fault != nullptr) {
    fail(fault->error.code, fault->phase, fault->cause);
  } else {
    fail(ErrorCode::kConnectionError, "receive", "the event stream ended without the answer");
  }
  end();
}

/// Waits as long as the server asks.
void HttpCall::wait_to_continue() {
  auto until = std::chrono::steady_clock::now() + events_.retry_or(kRetry);
  if (until >= call_.deadline) {
    fail(ErrorCode::kTimeout, "receive",
         "its event stream broke off, and the deadline comes before the peer wants to be "
         "asked again");
    return end();
  }
  ++vain_attempts_;
  timer_.expires_at(until);
  timer_.async_wait([self = shared_from_this()](boost::system::error_code fault) {
    if (!fault && !self->is_complete()) self->ask();
  });
}

link::CallOutcome HttpCall::answered(rpc::Delivery message) const {
  link::CallOutcome out{std::move(message)};
  out.http_status = head_.status;
  if (head_.status >= 400) out.refusal_headers = head_.headers;
  return out;
}

/// An answer that is not a stream. Bots in the wild send JSON under any type; an answer that is not
/// JSON by its type or content is a page for people.
link::CallOutcome HttpCall::whole() {
  auto type = head_.media_type();
  bool is_page = head_.status / 100 == 2 && !type.empty() && !link::is_json_type(type) &&
                 !body_.empty() && !link::looks_like_json(body_);
  bool is_refused = !events_.last_event_id().empty();
  std::string url = call_.endpoint.url();
  link::CallOutcome out = answered({std::move(body_), std::move(context_)});
  if (is_refused) {
    out.error = {ErrorCode::kConnectionError,
                 "no whole answer from " + url + ": its event stream broke off and was " +
                     "not continued (status " + std::to_string(out.http_status) + ")",
                 {}};
  } else if (is_page) {
    out.error = {
        ErrorCode::kInvalidReply,
        "call of " + url + " was answered with the content type " + link::excerpt_of(type) +
            " instead of application/json or text/event-stream: " + link::excerpt_of(out.bytes),
        {}};
  }
  return out;
}

void HttpCall::fail(ErrorCode code, std::string_view phase, std::string_view cause) {
  complete(failed_call(call_, code, phase, cause));
}

void HttpCall::complete(link::CallOutcome outcome) {
  if (is_complete()) return;
  auto exchange = exchange_.lock();
  if (!sent_at_ && exchange) sent_at_ = exchange->sent_at();
  outcome.sent_at = sent_at_;
  outcome.elapsed = std::chrono::steady_clock::now() - begun_;
  std::exchange(completion_, nullptr)(std::move(outcome));
}

void HttpCall::end() {
  if (auto exchange = exchange_.lock()) exchange->cancel();
  if (auto ended = std::exchange(ended_, nullptr)) ended();
}

link::CallOutcome failed_call(const link::OutboundCall& call, ErrorCode code,
                              std::string_view phase, std::string_view cause) {
  link::CallOutcome out;
  const std::string url = call.endpoint.url();
  std::string text = phase == "connect" ? "no connection to " + url + ": "
                     : phase == "receive"
                         ? "no whole answer from " + url + ": "
                         : "the call of " + url + " failed (" + std::string(phase) + "): ";
  out.error = core::Error{code, text + std::string(cause), {}};
  out.context =
      rpc::MessageContext::now(core::SystemClock(), rpc::MessageDirection::kServerToClient);
  return out;
}

}  // namespace league::transport::caller
