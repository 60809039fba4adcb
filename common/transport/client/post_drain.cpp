#include "common/transport/client/post_drain.h"

#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "common/transport/client/connection_parts.h"

namespace league::transport {

namespace {

constexpr std::chrono::seconds kLongestDrain{1};
constexpr std::size_t kMaxPostAnswer = 64 * 1024;

}  // namespace

struct PostDrain::State : std::enable_shared_from_this<State> {
  State(EventLoop& loop, const HttpClientLimits& its_limits)
      : limits(its_limits), timer(loop.context()) {}

  void on_sent() {
    if (--unsent == 0) run_then();
  }
  void run_then() {
    timer.cancel();
    auto task = then.lock();
    then.reset();
    if (task) (*task)();
  }

  const HttpClientLimits limits;
  boost::asio::steady_timer timer;
  std::size_t unsent = 0;  ///< POSTs without an answer's head
  std::size_t bytes = 0;  ///< of all POSTs
  std::weak_ptr<std::function<void()>> then;  ///< the timer owns it
};

/// Reports success when the head arrives, or the refusal with its text when the body is complete.
class PostDrain::Post final : public HttpSink {
 public:
  Post(std::shared_ptr<State> state, Endpoint endpoint, OutboundMessage message)
      : state_(std::move(state)), endpoint_(std::move(endpoint)), message_(std::move(message)) {
    ++state_->unsent;
    state_->bytes += message_.bytes.size();
  }

  void run_in(const std::shared_ptr<PoolExchange>& exchange) { exchange_ = exchange; }

  void on_head(const ResponseHead& head) override {
    status_ = head.status;
    auto exchange = exchange_.lock();
    context_ = context_of_answer(head, "POST", endpoint_.path, exchange->connection());
    // The body is read so that the connection can be reused.
    exchange->set_deadline(std::chrono::steady_clock::now() + kLongestDrain);
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
    state_->bytes -= message_.bytes.size();
    if (status_ != 0) {
      report(refusal("POST", endpoint_, status_, body_));
    } else if (fault != nullptr) {
      report(fault->error);
    }
  }

 private:
  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true)) return;
    tell(message_, std::move(error), status_, context_);
    state_->on_sent();
  }

  const std::shared_ptr<State> state_;
  const Endpoint endpoint_;
  const OutboundMessage message_;
  std::weak_ptr<PoolExchange> exchange_;
  int status_ = 0;
  rpc::MessageContext context_;
  std::string body_;
  bool has_reported_ = false;
  bool is_over_ = false;
};

PostDrain::PostDrain(EventLoop& loop, const HttpClientLimits& limits)
    : state_(std::make_shared<State>(loop, limits)) {}

PostDrain::~PostDrain() = default;

void PostDrain::start(HttpPool& pool, HttpRequest request, OutboundMessage message,
                      const std::string& target) {
  if (state_->bytes + message.bytes.size() > state_->limits.max_waiting) {
    return tell(message, core::Error{core::ErrorCode::kOverloaded,
                                     "more than " + std::to_string(state_->limits.max_waiting) +
                                         " bytes wait to be sent to " + pool.endpoint().url(),
                                     {}});
  }
  Endpoint endpoint = pool.endpoint();
  endpoint.path = target;
  request.body = message.bytes.share();
  request.deadline = message.deadline;
  if (request.deadline == core::Clock::Steady::max()) {
    request.deadline = std::chrono::steady_clock::now() + state_->limits.default_patience;
  }
  auto post = std::make_shared<Post>(state_, std::move(endpoint), std::move(message));
  post->run_in(pool.start(std::move(request), post));
}

void PostDrain::when_sent(std::function<void()> then) {
  if (state_->unsent == 0) return then();
  auto task = std::make_shared<std::function<void()>>(std::move(then));
  state_->then = task;
  state_->timer.expires_after(kLongestDrain);
  state_->timer.async_wait([state = state_, task](boost::system::error_code fault) {
    if (!fault) state->run_then();
  });
}

}  // namespace league::transport
