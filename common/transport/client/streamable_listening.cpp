#include <algorithm>
#include <utility>

#include "common/transport/client/streamable_parts.h"

namespace league::transport::client {

namespace {

constexpr std::chrono::milliseconds kLongestPause{30'000};

/// The GET stream for unsolicited messages; it is requested again whenever it breaks.
class StreamableListening final : public StreamableTask {
 public:
  StreamableListening(std::shared_ptr<StreamableShared> shared, HttpHeaders headers,
                      StreamableHttpConnection::Done done)
      : StreamableTask(std::move(shared)), headers_(std::move(headers)), done_(std::move(done)) {}

  void ask_again() override {
    auto request = stream_request(headers_);
    request.deadline = std::chrono::steady_clock::now() + shared_->options.limits.default_patience;
    send(std::move(request));
  }

  void on_head(const ResponseHead& head) override {
    StreamableTask::on_head(head);
    if (status_ != 200 || media_type_ != link::kEventStreamType) return;
    begin_events(core::Clock::Steady::max());
    report(std::nullopt);
  }

  void on_body(std::string_view piece) override {
    is_streaming_ ? read_events(piece) : keep_excerpt(piece);
  }

  void on_end(const HttpFault* fault) override {
    if (is_over_) return;
    if (status_ == 405) return end(std::nullopt);
    if (status_ / 100 == 2 && !is_streaming_) {
      return end(wrong_type("GET", shared_->endpoint, media_type_, link::kEventStreamType, body_));
    }
    if (status_ != 0 && !is_streaming_) {
      return end(refusal("GET", shared_->endpoint, status_, body_));
    }
    if (!has_reported_) return end(fault->error);
    wait();
  }

 private:
  void on_event(link::ReceivedMessage message) override {
    failures_ = 0;
    shared_->receive_buffer.deliver(std::move(message));
  }

  /// Waits before the next attempt, longer after each failed one.
  void wait() {
    auto pause = events_.retry_or(shared_->options.retry);
    pause = std::max(pause, std::min(kLongestPause, pause * (1 << std::min(failures_, 10))));
    ++failures_;
    wait_until(std::chrono::steady_clock::now() + pause);
  }

  void report(std::optional<core::Error> error) {
    if (std::exchange(has_reported_, true) || !done_) return;
    done_({std::move(error), status_, context_});
  }
  void on_over(std::optional<core::Error> error) override { report(std::move(error)); }

  const HttpHeaders headers_;
  const StreamableHttpConnection::Done done_;
  int failures_ = 0;  ///< attempts since the last event
  bool has_reported_ = false;
};

/// The DELETE that ends a session.
class StreamableDelete final : public StreamableTask {
 public:
  StreamableDelete(std::shared_ptr<StreamableShared> shared, StreamableHttpConnection::Done done)
      : StreamableTask(std::move(shared)), done_(std::move(done)) {}

  void begin(const HttpHeaders& more, core::Clock::Steady deadline) {
    shared_->posts->add();
    HttpRequest request;
    request.method = "DELETE";
    request.is_repeatable = true;
    request.headers = headers({}, more);
    auto longest = std::chrono::steady_clock::now() + shared_->options.limits.default_patience;
    request.deadline = std::min(deadline, longest);
    send(std::move(request));
  }

  void on_body(std::string_view piece) override { keep_excerpt(piece); }
  void on_end(const HttpFault* fault) override {
    if (fault != nullptr && status_ == 0) return end(fault->error);
    if (status_ / 100 == 2 || status_ == 405) return end(std::nullopt);
    end(refusal("DELETE", shared_->endpoint, status_, body_));
  }

 private:
  void on_over(std::optional<core::Error> error) override {
    if (done_) done_({std::move(error), status_, context_});
    shared_->posts->on_sent();
  }

  const StreamableHttpConnection::Done done_;
};

}  // namespace

void start_listening(const std::shared_ptr<StreamableShared>& shared, HttpHeaders headers,
                     StreamableHttpConnection::Done done) {
  std::make_shared<StreamableListening>(shared, std::move(headers), std::move(done))->ask_again();
}

void start_delete(const std::shared_ptr<StreamableShared>& shared, const HttpHeaders& headers,
                  core::Clock::Steady deadline, StreamableHttpConnection::Done done) {
  std::make_shared<StreamableDelete>(shared, std::move(done))->begin(headers, deadline);
}

}  // namespace league::transport::client
