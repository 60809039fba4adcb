#include "common/transport/client/request_task.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <utility>

namespace league::transport::client {

namespace asio = boost::asio;
using link::Task;

RequestScope::RequestScope(link::EventLoop& its_loop, const link::Endpoint& its_endpoint,
                           StreamableHttpOptions its_options)
    : loop(its_loop),
      endpoint(its_endpoint),
      options(std::move(its_options)),
      pool(std::make_shared<HttpPool>(loop, endpoint, options.limits)),
      receive_buffer([this] { for_each(&RequestTask::update_reading); }),
      all_sent(loop.context()) {}

void RequestScope::set_reading(bool is_on) {
  receive_buffer.set_reading(is_on);
  is_on ? receive_buffer.drain() : for_each(&RequestTask::update_reading);
}

void RequestScope::for_each(const std::function<void(RequestTask&)>& what) const {
  for (const auto& owned : std::set(tasks)) {
    if (auto task = owned.lock()) what(*task);
  }
}

core::Error RequestScope::closed() const {
  return {
      core::ErrorCode::kShuttingDown, "the connection to " + endpoint.url() + " was closed", {}};
}

HttpHeaders RequestScope::headers(HttpHeaders first, const HttpHeaders& more) const {
  first.insert(first.end(), options.headers.begin(), options.headers.end());
  first.insert(first.end(), more.begin(), more.end());
  return first;
}

std::optional<HttpRequest> RequestScope::post_of(const link::OutboundMessage& message,
                                                 const std::string& target, HttpHeaders first) {
  const std::size_t most = options.limits.max_waiting;
  if (bytes + message.bytes.size() > most) {
    tell(message, core::Error{core::ErrorCode::kOverloaded,
                              "more than " + std::to_string(most) + " bytes wait to be sent to " +
                                  endpoint.url(),
                              {}});
    return std::nullopt;
  }
  ++unsent;
  bytes += message.bytes.size();
  HttpRequest request;
  request.target = target;
  request.headers = headers(std::move(first), message.headers);
  request.body = message.bytes.share();
  request.is_repeatable = message.is_repeatable;
  request.deadline = message.deadline;
  if (request.deadline == core::Clock::Steady::max())
    request.deadline = std::chrono::steady_clock::now() + options.limits.default_patience;
  return request;
}

void RequestScope::on_sent() {
  if (--unsent == 0) all_sent.open();
}

void RequestScope::when_sent(std::function<void()> then) {
  if (unsent == 0) return then();
  all_sent.close();
  auto wait = [](std::shared_ptr<RequestScope> self, std::function<void()> act) -> Task<void> {
    constexpr std::chrono::seconds kLongest{1};
    link::Alarm alarm(self->loop.context(), [&] { self->all_sent.open(); });
    alarm.set(std::chrono::steady_clock::now() + kLongest);
    co_await self->all_sent.pass();
    act();
  };
  asio::co_spawn(loop.context(), wait(shared_from_this(), std::move(then)), asio::detached);
}

RequestTask::RequestTask(std::shared_ptr<RequestScope> scope)
    : scope_(std::move(scope)),
      deadline_(scope_->loop.context(),
                [this] {
                  if (!exchange_) return;
                  exchange_->interrupt({core::ErrorCode::kTimeout, "the deadline has passed", {}});
                }),
      events_(scope_->options.limits, scope_->options.retry) {}

void RequestTask::spawn() {
  scope_->tasks.insert(weak_from_this());
  auto on_end = [self = shared_from_this()](std::exception_ptr fault, Ending ending) {
    // A cancelled task is over already.
    if (fault) ending = core::Error{core::ErrorCode::kInternalError, "a request has failed", {}};
    self->end(std::move(ending));
    self->exchange_.reset();
  };
  asio::co_spawn(scope_->loop.context(), run(),
                 asio::bind_cancellation_slot(signal_.slot(), std::move(on_end)));
}

void RequestTask::end(Ending ending) {
  if (std::exchange(is_over_, true)) return;
  auto self = shared_from_this();
  scope_->tasks.erase(self);
  signal_.emit(asio::cancellation_type::all);
  on_over(std::move(ending));
}

void RequestTask::update_reading() {
  if (exchange_ && is_streaming_) exchange_->set_reading(may_read());
}

/// What it waited for may have come just before it was cancelled.
void RequestTask::check() const {
  if (is_over_) throw boost::system::system_error(asio::error::operation_aborted);
}

Task<RequestTask::Ending> RequestTask::ask(HttpRequest request) {
  status_ = 0;
  is_streaming_ = false;
  body_.clear();
  deadline_.set(request.deadline);
  exchange_.emplace(scope_->pool, std::move(request));
  const auto begun = co_await exchange_->begin();
  check();
  if (!begun) co_return named(begun.error());
  const ResponseHead& head = exchange_->head();
  status_ = head.status;
  media_type_ = head.media_type();
  context_ = context_of_answer(head, exchange_->request().method, exchange_->request().target,
                               exchange_->connection());
  co_return std::nullopt;
}

Task<core::Result<bool>> RequestTask::read(std::string* body) {
  auto more = co_await exchange_->read(body);
  check();
  if (!more) co_return named(more.error());
  co_return more;
}

Task<RequestTask::Ending> RequestTask::read_body(std::size_t most) {
  while (body_.size() <= most) {
    const auto more = co_await read(&body_);
    if (!more) co_return more.error();
    if (!*more) co_return std::nullopt;
  }
  co_return core::Error{core::ErrorCode::kReplyTooLarge,
                        "the answer of " + scope_->endpoint.url() + " is larger than " +
                            std::to_string(most) + " bytes",
                        {}};
}

Task<RequestTask::Ending> RequestTask::read_events(core::Clock::Steady deadline) {
  is_streaming_ = true;
  events_.begin(context_);
  deadline_.set(deadline);
  update_reading();
  for (std::string piece;; piece.clear()) {
    const auto more = co_await read(&piece);
    if (!more) co_return more.error();
    if (!*more) co_return std::nullopt;
    const bool is_read = events_.feed(
        piece, [this](link::ReceivedMessage message) { on_message(std::move(message)); },
        [this](const link::SseEvent& event) { on_event(event); });
    if (!is_read) co_return core::Error{core::ErrorCode::kReplyTooLarge, events_.fault(), {}};
  }
}

Task<void> RequestTask::pause(core::Clock::Steady until) {
  exchange_.reset();
  asio::steady_timer timer(scope_->loop.context(), until);
  co_await timer.async_wait(asio::use_awaitable);
  check();
}

}  // namespace league::transport::client
