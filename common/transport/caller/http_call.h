#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/transport/caller/http_caller.h"
#include "common/transport/client/event_stream.h"

namespace league::transport {

/// One call over HTTP. In an event stream, the answer is the response with the call's id (the first
/// response if that id is null); a stream that breaks off after an event with an id is continued by
/// GET with Last-Event-ID. Only on the event loop's thread.
class HttpCall final : public HttpSink, public std::enable_shared_from_this<HttpCall> {
 public:
  HttpCall(EventLoop& loop, OutboundCall call, Caller::Completion completion,
           std::size_t max_response);

  /// Waits in the queue; fails with kTimeout if the deadline passes before begin() is called.
  void wait_for_turn();
  /// Sends the request. `ended` runs once, after the completion: a stream is read for a moment
  /// beyond its answer, so that the connection can be reused.
  void begin(std::shared_ptr<HttpPool> pool, std::function<void()> ended);
  /// Ends it with kShuttingDown. `ended` is not called any more.
  void stop();

  [[nodiscard]] const OutboundCall& request() const { return call_; }
  [[nodiscard]] bool is_complete() const { return completion_ == nullptr; }

  void on_head(const ResponseHead& head) override;
  void on_body(std::string_view piece) override;
  void on_end(const HttpFault* fault) override;

 private:
  void ask();
  void wait_to_continue();
  void take(ReceivedMessage message);
  [[nodiscard]] CallOutcome answered(rpc::Delivery message) const;
  [[nodiscard]] CallOutcome whole();
  void fail(core::ErrorCode code, std::string_view phase, std::string_view cause);
  void complete(CallOutcome outcome);
  /// Closes the connection if it is still in use.
  void end();

  const OutboundCall call_;
  Caller::Completion completion_;  ///< null once it has run
  const core::Clock::Steady begun_ = std::chrono::steady_clock::now();
  const std::size_t max_response_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<HttpPool> pool_;  ///< null until it begins
  std::function<void()> ended_;
  std::weak_ptr<PoolExchange> exchange_;
  EventStream events_;
  int vain_attempts_ = 0;  ///< attempts to continue the stream since its last message
  ResponseHead head_;
  rpc::MessageContext context_;  ///< of the answer whose head has arrived
  bool is_events_ = false;
  std::string body_;
  std::size_t received_ = 0;
  std::optional<core::Clock::Steady> sent_at_;
};

/// The outcome of a call that failed or never began; its text names the URL, the phase and the
/// cause.
[[nodiscard]] CallOutcome failed_call(const OutboundCall& call, core::ErrorCode code,
                                      std::string_view phase, std::string_view cause);

}  // namespace league::transport
