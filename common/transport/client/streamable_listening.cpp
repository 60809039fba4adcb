#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "common/transport/client/event_stream.h"
#include "common/transport/client/streamable_parts.h"

namespace league::transport {

namespace {

constexpr std::chrono::milliseconds kLongestPause{30'000};
constexpr std::size_t kMaxRefusalText = 1024;

/// The GET stream for unsolicited messages; it is requested again whenever it breaks.
class StreamableListening final : public StreamableTask,
                                  public std::enable_shared_from_this<StreamableListening> {
 public:
  StreamableListening(std::shared_ptr<StreamableShared> shared, HttpHeaders headers,
                      StreamableHttpConnection::Done done)
      : shared_(std::move(shared)),
        headers_(std::move(headers)),
        done_(std::move(done)),
        events_(shared_->options.limits),
        timer_(shared_->loop.context()) {}

  void begin() {
    shared_->tasks.insert(shared_from_this());
    ask();
  }

  void on_head(const ResponseHead& head) override {
    status_ = head.status;
    media_type_ = head.media_type();
    context_ =
        context_of_answer(head, "GET", shared_->endpoint.path, exchange_.lock()->connection());
    if (!is_open()) return;
    events_.begin(context_);
    exchange_.lock()->set_deadline(core::Clock::Steady::max());
    exchange_.lock()->set_reading(shared_->receive_buffer.is_reading());
    report(std::nullopt);
  }

  void on_body(std::string_view piece) override {
    if (!is_open()) {
      if (body_.size() < kMaxRefusalText) body_.append(piece);
      return;
    }
    auto self = shared_from_this();
    bool is_fine = events_.feed(piece, [this](ReceivedMessage message) {
      failures_ = 0;
      if (!is_over_) shared_->receive_buffer.deliver(std::move(message));
    });
    if (!is_fine) end(core::Error{core::ErrorCode::kReplyTooLarge, events_.fault(), {}});
  }

  void on_end(const HttpFault* fault) override {
    if (is_over_) return;
    if (status_ == 405) return end(std::nullopt);
    if (status_ / 100 == 2 && !is_open()) {
      return end(wrong_type("GET", shared_->endpoint, media_type_, kEventStreamType, body_));
    }
    if (status_ != 0 && !is_open()) return end(refusal("GET", shared_->endpoint, status_, body_));
    if (!has_reported_) return end(fault->error);
    wait();
  }

  void stop() override {
    end(core::Error{core::ErrorCode::kShuttingDown,
                    "the connection to " + shared_->endpoint.url() + " was closed",
                    {}});
  }
  void set_reading(bool is_on) override {
    auto exchange = exchange_.lock();
    if (exchange && is_open()) exchange->set_reading(is_on);
  }

 private:
  [[nodiscard]] bool is_open() const { return status_ == 200 && media_type_ == kEventStreamType; }

  void ask() {
    status_ = 0;
    body_.clear();
    HttpRequest request;
    request.method = "GET";
    request.target = shared_->endpoint.path;
    HttpHeaders first{{"Accept", std::string(kEventStreamType)}};
    if (!events_.last_event_id().empty()) {
      first.emplace_back("Last-Event-ID", events_.last_event_id());
    }
    request.headers = shared_->headers(std::move(first), headers_);
    request.deadline = std::chrono::steady_clock::now() + shared_->options.limits.default_patience;
    request.is_listening = true;
    exchange_ = shared_->pool->start(std::move(request), shared_from_this());
  }

  /// Waits before the next attempt, longer after each failed one.
  void wait() {
    auto pause = events_.retry_or(shared_->options.retry);
    pause = std::max(pause, std::min(kLongestPause, pause * (1 << std::min(failures_, 10))));
    ++failures_;
    timer_.expires_after(pause);
    timer_.async_wait([self = shared_from_this()](boost::system::error_code fault) {
      if (!fault && !self->is_over_) self->ask();
    });
  }

  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true) || !done_) return;
    done_({std::move(error), status_, context_});
  }
  void end(std::optional<core::Error> error) {
    if (std::exchange(is_over_, true)) return;
    auto self = shared_from_this();
    timer_.cancel();
    if (auto exchange = exchange_.lock()) exchange->cancel();
    shared_->tasks.erase(self);
    report(std::move(error));
  }

  const std::shared_ptr<StreamableShared> shared_;
  const HttpHeaders headers_;
  const StreamableHttpConnection::Done done_;
  EventStream events_;
  boost::asio::steady_timer timer_;
  std::weak_ptr<PoolExchange> exchange_;
  int status_ = 0;
  std::string media_type_;
  rpc::MessageContext context_;
  std::string body_;
  int failures_ = 0;  ///< attempts since the last event
  bool has_reported_ = false;
  bool is_over_ = false;
};

/// The DELETE that ends a session.
class StreamableDelete final : public StreamableTask,
                               public std::enable_shared_from_this<StreamableDelete> {
 public:
  StreamableDelete(std::shared_ptr<StreamableShared> shared, StreamableHttpConnection::Done done)
      : shared_(std::move(shared)), done_(std::move(done)) {}

  void begin(const HttpHeaders& headers, core::Clock::Steady deadline) {
    ++shared_->unsent;
    shared_->tasks.insert(shared_from_this());
    HttpRequest request;
    request.method = "DELETE";
    request.target = shared_->endpoint.path;
    request.headers = shared_->headers({}, headers);
    auto longest = std::chrono::steady_clock::now() + shared_->options.limits.default_patience;
    request.deadline = std::min(deadline, longest);
    exchange_ = shared_->pool->start(std::move(request), shared_from_this());
  }

  void on_head(const ResponseHead& head) override {
    status_ = head.status;
    context_ =
        context_of_answer(head, "DELETE", shared_->endpoint.path, exchange_.lock()->connection());
  }
  void on_body(std::string_view piece) override {
    if (body_.size() < kMaxRefusalText) body_.append(piece);
  }
  void on_end(const HttpFault* fault) override {
    if (fault != nullptr && status_ == 0) return end(fault->error);
    if (status_ / 100 == 2 || status_ == 405) return end(std::nullopt);
    end(refusal("DELETE", shared_->endpoint, status_, body_));
  }
  void stop() override {
    end(core::Error{core::ErrorCode::kShuttingDown,
                    "the connection to " + shared_->endpoint.url() + " was closed",
                    {}});
  }
  void set_reading(bool /*is_on*/) override {}

 private:
  void end(std::optional<core::Error> error) {
    if (std::exchange(is_over_, true)) return;
    auto self = shared_from_this();
    if (auto exchange = exchange_.lock()) exchange->cancel();
    shared_->tasks.erase(self);
    if (done_) done_({std::move(error), status_, context_});
    shared_->on_sent();
  }

  const std::shared_ptr<StreamableShared> shared_;
  const StreamableHttpConnection::Done done_;
  std::weak_ptr<PoolExchange> exchange_;
  int status_ = 0;
  rpc::MessageContext context_;
  std::string body_;
  bool is_over_ = false;
};

}  // namespace

void start_listening(const std::shared_ptr<StreamableShared>& shared, HttpHeaders headers,
                     StreamableHttpConnection::Done done) {
  std::make_shared<StreamableListening>(shared, std::move(headers), std::move(done))->begin();
}

void start_delete(const std::shared_ptr<StreamableShared>& shared, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done) {
  std::make_shared<StreamableDelete>(shared, std::move(done))->begin(headers, deadline);
}

}  // namespace league::transport
