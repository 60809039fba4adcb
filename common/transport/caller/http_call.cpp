#include "common/transport/caller/http_call.h"

#include <algorithm>
#include <utility>

#include "common/rpc/frame_peek.h"
#include "common/transport/client/connection_parts.h"

namespace league::transport::caller {

namespace {

using client::HttpExchange;
using core::ErrorCode;
using link::Task;

/// How long to wait for the end of a stream after its answer has arrived.
constexpr std::chrono::milliseconds kStreamEndPatience{50};
constexpr std::chrono::milliseconds kRetry{1000};  // until the server names a time

client::HttpClientLimits stream_limits(std::size_t max_response) {
  client::HttpClientLimits limits;
  limits.max_message = max_response;
  return limits;
}

}  // namespace

HttpCall::HttpCall(boost::asio::io_context& context, link::OutboundCall call,
                   link::Caller::Completion completion, std::size_t max_response)
    : call_(std::move(call)),
      completion_(std::move(completion)),
      max_response_(max_response),
      context_(context),
      deadline_(context,
                [this] {
                  interrupt(
                      ErrorCode::kTimeout,
                      has_begun_
                          ? "the deadline has passed"
                          : "the deadline passed before it was this call's turn at this peer");
                }),
      events_(stream_limits(max_response), kRetry) {}

Task<void> HttpCall::converse(std::shared_ptr<client::HttpPool> pool) {
  has_begun_ = true;
  while (!is_complete()) {
    HttpExchange exchange(pool, next_request());
    exchange_ = &exchange;
    is_events_ = false;
    const auto asked = co_await ask(&exchange);
    exchange_ = nullptr;
    if (!sent_at_) sent_at_ = exchange.sent_at();
    if (is_complete()) co_return;
    // Cancelled while it read: the fault is only that the reading was aborted.
    if (interruption_)
      co_return fail(interruption_->code, interruption_->phase, interruption_->cause);
    const bool is_final = !asked && asked.error().code != ErrorCode::kConnectionError;
    if (is_events_ && events_.may_continue() && !is_final) {
      co_await pause();
    } else if (asked) {
      fail(ErrorCode::kConnectionError, "receive", "the event stream ended without the answer");
    } else {
      fail(asked.error().code, exchange.phase(), asked.error().message);
    }
  }
}

/// The POST, or the GET that continues its answer.
client::HttpRequest HttpCall::next_request() const {
  client::HttpRequest request;
  if (events_.last_event_id().empty()) {
    request.headers = {{"Accept", "application/json, text/event-stream"},
                       {"Content-Type", std::string(link::kJsonType)}};
    request.headers.insert(request.headers.end(), call_.headers.begin(), call_.headers.end());
    request.body = call_.bytes.share();
    request.is_repeatable = call_.is_repeatable;
  } else {
    request = events_.request();
  }
  request.target = call_.endpoint.path;
  request.deadline = call_.deadline;
  return request;
}

/// The end of a stream usually arrives right after the answer, and then the connection can be
/// reused. The caller does not have to wait for that.
Task<core::Result<void>> HttpCall::ask(HttpExchange* exchange) {
  if (auto begun = co_await exchange->begin(); !begun) co_return begun;
  head_ = exchange->head();
  of_answer_ = client::context_of_answer(head_, events_.last_event_id().empty() ? "POST" : "GET",
                                         call_.endpoint.path, exchange->connection());
  is_events_ = head_.status == 200 && head_.media_type() == link::kEventStreamType;
  if (is_events_) events_.begin(of_answer_);
  std::size_t received = 0;
  for (std::string body;;) {
    const std::size_t before = body.size();
    const auto more = co_await exchange->read(&body);
    if (!more) co_return more.error();
    if (!*more) {
      if (!is_events_) complete(whole(std::move(body)));
      co_return core::Result<void>();
    }
    received += body.size() - before;
    if (received > max_response_)
      co_return core::Error{ErrorCode::kReplyTooLarge,
                            "the answer is larger than " + std::to_string(max_response_) + " bytes",
                            {}};
    if (!is_events_) continue;
    auto sink = [this](link::ReceivedMessage message) { take(std::move(message)); };
    if (!is_complete() && !events_.feed(body, sink))
      co_return core::Error{ErrorCode::kReplyTooLarge, events_.fault(), {}};
    body.clear();
  }
}

void HttpCall::take(link::ReceivedMessage message) {
  using rpc::FrameKind;
  const auto peek = rpc::peek_frame(message.bytes);
  // A batch of calls has no id of its own.
  const bool is_answer = call_.id.is_null()
                             ? peek.kind == FrameKind::kResponse || peek.kind == FrameKind::kBatch
                             : peek.kind == FrameKind::kResponse && peek.id == call_.id;
  if (!is_answer || is_complete()) return;
  complete(answered(std::move(message)));
  deadline_.set(std::min(call_.deadline, std::chrono::steady_clock::now() + kStreamEndPatience));
}

/// Waits as long as the peer asks, and counts the attempt.
Task<void> HttpCall::pause() {
  const auto until = std::chrono::steady_clock::now() + events_.retry();
  if (until >= call_.deadline)
    co_return fail(ErrorCode::kTimeout, "receive",
                   "its event stream broke off, and the deadline comes before the peer wants to be "
                   "asked again");
  events_.on_attempt();
  boost::asio::steady_timer timer(context_, until);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

link::CallOutcome HttpCall::answered(rpc::Delivery message) const {
  link::CallOutcome out{std::move(message)};
  out.http_status = head_.status;
  if (head_.status >= 400) out.refusal_headers = head_.headers;
  return out;
}

/// An answer that is not a stream. Bots in the wild send JSON under any type; an answer that is not
/// JSON by its type or content is a page for people.
link::CallOutcome HttpCall::whole(std::string body) {
  auto type = head_.media_type();
  bool is_page = head_.status / 100 == 2 && !type.empty() && !link::is_json_type(type) &&
                 !body.empty() && !link::looks_like_json(body);
  bool is_refused = !events_.last_event_id().empty();
  link::CallOutcome out = answered({std::move(body), std::move(of_answer_)});
  if (is_refused) {
    out.error = {ErrorCode::kConnectionError,
                 "no whole answer from " + call_.endpoint.url() +
                     ": its event stream broke off and was not continued (status " +
                     std::to_string(out.http_status) + ")",
                 {}};
  } else if (is_page) {
    out.error = {
        ErrorCode::kInvalidReply,
        "call of " + call_.endpoint.url() + " was answered with the content type " +
            link::excerpt_of(type) +
            " instead of application/json or text/event-stream: " + link::excerpt_of(out.bytes),
        {}};
  }
  return out;
}

void HttpCall::interrupt(ErrorCode code, std::string_view cause) {
  if (interruption_) return;
  const std::string_view phase = !has_begun_ ? "queue" : exchange_ ? exchange_->phase() : "receive";
  if (!sent_at_ && exchange_ != nullptr) sent_at_ = exchange_->sent_at();
  exchange_ = nullptr;  // it ends with the task
  interruption_ = {code, std::string(phase), std::string(cause)};
  signal_.emit(boost::asio::cancellation_type::all);
}

void HttpCall::on_interrupted(const std::exception& fault) {
  if (interruption_) return fail(interruption_->code, interruption_->phase, interruption_->cause);
  fail(ErrorCode::kInternalError, "receive", fault.what());
}

void HttpCall::refuse() { fail(ErrorCode::kShuttingDown, "queue", "this program is stopping"); }

void HttpCall::fail(ErrorCode code, std::string_view phase, std::string_view cause) {
  if (!is_complete()) complete(failed_call(call_, code, phase, cause));
}

void HttpCall::complete(link::CallOutcome outcome) {
  if (!sent_at_ && exchange_ != nullptr) sent_at_ = exchange_->sent_at();
  outcome.sent_at = sent_at_;
  outcome.elapsed = std::chrono::steady_clock::now() - begun_;
  std::exchange(completion_, nullptr)(std::move(outcome));
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
