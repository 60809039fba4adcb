#pragma once

#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/transport/caller/http_caller.h"
#include "common/transport/client/event_stream.h"

namespace league::transport::caller {

/// One call over HTTP. In an event stream, the answer is the response with the call's id (the first
/// response if that id is null); a stream that breaks off after an event with an id is continued by
/// GET with Last-Event-ID. Only on the event loop's thread.
class HttpCall final : public client::HttpSink, public std::enable_shared_from_this<HttpCall> {
 public:
  HttpCall(link::EventLoop& loop, link::OutboundCall call, link::Caller::Completion completion,
           std::size_t max_response);

  /// Waits in the queue; fails with kTimeout if the deadline passes before begin() is called.
  void wait_for_turn();
  /// Sends the request. `ended` runs once, after the completion: a stream is read for a moment
  /// beyond its answer, so that the connection can be reused.
  void begin(std::shared_ptr<client::HttpPool> pool, std::function<void()> ended);
  /// Ends it with kShuttingDown. `ended` is not called any more.
  void stop();

  [[nodiscard]] const link::OutboundCall& request() const { return call_; }
  [[nodiscard]] bool is_complete() const { return completion_ == nullptr; }

  void on_head(const client::ResponseHead& head) override;
  void on_body(std::string_view piece) override;
  void on_end(const client::HttpFault* fault) override;

 private:
  void ask();
  void wait_to_continue();
  void take(link::ReceivedMessage message);
  [[nodiscard]] link::CallOutcome answered(rpc::Delivery message) const;
  [[nodiscard]] link::CallOutcome whole();
  void fail(core::ErrorCode code, std::string_view phase, std::string_view cause);
  void complete(link::CallOutcome outcome);
  /// Closes the connection if it is still in use.
  void end();

  const link::OutboundCall call_;
  link::Caller::Completion completion_;  ///< null once it has run
  const core::Clock::Steady begun_ = std::chrono::steady_clock::now();
  const std::size_t max_response_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<client::HttpPool> pool_;  ///< null until it begins
  std::function<void()> ended_;
  std::weak_ptr<client::PoolExchange> exchange_;
  client::EventStream events_;
  int vain_attempts_ = 0;  ///< attempts to continue the stream since its last message
  client::ResponseHead head_;
  rpc::MessageContext context_;  ///< of the answer whose head has arrived
  bool is_events_ = false;
  std::string body_;
  std::size_t received_ = 0;
  std::optional<core::Clock::Steady> sent_at_;
};

/// The outcome of a call that failed or never began; its text names the URL, the phase and the
/// cause.
[[nodiscard]] link::CallOutcome failed_call(const link::OutboundCall& call, core::ErrorCode code,
                                            std::string_view phase, std::string_view cause);

}  // namespace league::transport::caller
