#include <algorithm>
#include <utility>

#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

using link::Task;

constexpr std::chrono::milliseconds kLongestPause{30'000};

/// The GET stream for unsolicited messages; it is requested again whenever it breaks.
class StreamableListening final : public RequestTask {
 public:
  StreamableListening(std::shared_ptr<RequestScope> scope, HttpHeaders headers,
                      StreamableHttpConnection::Done done)
      : RequestTask(std::move(scope)), headers_(std::move(headers)), done_(std::move(done)) {}

 private:
  Task<Ending> run() override {
    for (;;) {
      HttpRequest request = events_.request();
      request.target = scope_->endpoint.path;
      request.headers = scope_->headers(std::move(request.headers), headers_);
      request.deadline = std::chrono::steady_clock::now() + scope_->options.limits.default_patience;
      Ending fault = co_await ask(std::move(request));
      if (!fault && (status_ != 200 || media_type_ != link::kEventStreamType))
        co_return co_await refused();
      if (!fault) {
        report(std::nullopt);
        fault = co_await read_events(core::Clock::Steady::max());
      }
      if (!has_reported_ || (fault && fault->code == core::ErrorCode::kReplyTooLarge))
        co_return fault;
      co_await pause(std::chrono::steady_clock::now() + next_pause());
    }
  }

  Task<Ending> refused() {
    co_await read_body(scope_->options.limits.max_message);
    if (status_ == 405) co_return std::nullopt;
    if (is_fine())
      co_return wrong_type("GET", scope_->endpoint, media_type_, link::kEventStreamType, body_);
    co_return refusal("GET", scope_->endpoint, status_, body_);
  }

  /// Longer after each failed attempt.
  std::chrono::milliseconds next_pause() {
    const auto pause = events_.retry();
    const int factor = 1 << std::min(events_.vain_attempts(), 10);
    events_.on_attempt();
    return std::max(pause, std::min(kLongestPause, pause * factor));
  }

  void on_message(link::ReceivedMessage message) override {
    scope_->receive_buffer.deliver(std::move(message));
  }

  void report(Ending error) {
    if (std::exchange(has_reported_, true) || !done_) return;
    done_({std::move(error), status_, context_});
  }
  void on_over(Ending error) override { report(std::move(error)); }

  const HttpHeaders headers_;
  const StreamableHttpConnection::Done done_;
  bool has_reported_ = false;
};

/// The DELETE that ends a session.
class StreamableDelete final : public RequestTask {
 public:
  StreamableDelete(std::shared_ptr<RequestScope> scope, HttpRequest request,
                   StreamableHttpConnection::Done done)
      : RequestTask(std::move(scope)), request_(std::move(request)), done_(std::move(done)) {
    scope_->on_begun();
  }

 private:
  Task<Ending> run() override {
    if (auto fault = co_await ask(std::move(request_))) co_return fault;
    co_await read_body(scope_->options.limits.max_message);
    if (is_fine() || status_ == 405) co_return std::nullopt;
    co_return refusal("DELETE", scope_->endpoint, status_, body_);
  }

  void on_over(Ending error) override {
    if (done_) done_({std::move(error), status_, context_});
    scope_->on_sent();
  }

  HttpRequest request_;
  const StreamableHttpConnection::Done done_;
};

}  // namespace

void start_listening(const std::shared_ptr<RequestScope>& scope, HttpHeaders headers,
                     StreamableHttpConnection::Done done) {
  std::make_shared<StreamableListening>(scope, std::move(headers), std::move(done))->spawn();
}

void start_delete(const std::shared_ptr<RequestScope>& scope, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done) {
  HttpRequest request;
  request.method = "DELETE";
  request.target = scope->endpoint.path;
  request.is_repeatable = true;
  request.headers = scope->headers({}, headers);
  request.deadline =
      std::min(deadline, std::chrono::steady_clock::now() + scope->options.limits.default_patience);
  std::make_shared<StreamableDelete>(scope, std::move(request), std::move(done))->spawn();
}

}  // namespace league::transport::client
