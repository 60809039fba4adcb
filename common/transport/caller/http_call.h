#pragma once

#include <boost/asio/cancellation_signal.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/transport/caller/http_caller.h"
#include "common/transport/client/event_stream.h"
#include "common/transport/link/task.h"

namespace league::transport::caller {

/// One call over HTTP. In an event stream, the answer is the response with the call's id (the first
/// response if that id is null); a stream that breaks off after an event with an id is continued by
/// GET with Last-Event-ID. Only on the event loop's thread.
class HttpCall final {
 public:
  HttpCall(boost::asio::io_context& context, link::OutboundCall call,
           link::Caller::Completion completion, std::size_t max_response);

  /// From now on the deadline interrupts it.
  void watch() { deadline_.set(call_.deadline); }
  /// Sends the request and runs the completion. A stream is read for a moment beyond its answer, so
  /// that the connection can be reused.
  link::Task<void> converse(std::shared_ptr<client::HttpPool> pool);
  /// Ends it with this error: cancels the task in which it runs.
  void interrupt(core::ErrorCode code, std::string_view cause);
  /// Its task has ended with `fault`.
  void on_interrupted(const std::exception& fault);
  /// Ends it with kShuttingDown, before it began.
  void refuse();

  [[nodiscard]] const link::OutboundCall& request() const { return call_; }
  [[nodiscard]] boost::asio::cancellation_slot cancelled() { return signal_.slot(); }

 private:
  [[nodiscard]] client::HttpRequest next_request() const;
  /// One request and its answer, to the end.
  link::Task<core::Result<void>> ask(client::HttpExchange* exchange);
  link::Task<void> pause();
  void take(link::ReceivedMessage message);
  [[nodiscard]] link::CallOutcome answered(rpc::Delivery message) const;
  [[nodiscard]] link::CallOutcome whole(std::string body);
  void fail(core::ErrorCode code, std::string_view phase, std::string_view cause);
  void complete(link::CallOutcome outcome);
  [[nodiscard]] bool is_complete() const { return completion_ == nullptr; }

  /// Why its task was cancelled.
  struct Interruption {
    core::ErrorCode code;
    std::string phase;
    std::string cause;
  };

  const link::OutboundCall call_;
  link::Caller::Completion completion_;  ///< null once it has run
  const core::Clock::Steady begun_ = std::chrono::steady_clock::now();
  const std::size_t max_response_;
  boost::asio::io_context& context_;
  boost::asio::cancellation_signal signal_;
  link::Alarm deadline_;
  std::optional<Interruption> interruption_;
  bool has_begun_ = false;
  client::HttpExchange* exchange_ = nullptr;  ///< the present one
  client::ResponseHead head_;  ///< of its answer; so are the next two members
  rpc::MessageContext of_answer_;
  bool is_events_ = false;
  client::EventStream events_;
  std::optional<core::Clock::Steady> sent_at_;
};

/// The outcome of a call that failed or never began; its text names the URL, the phase and the
/// cause.
[[nodiscard]] link::CallOutcome failed_call(const link::OutboundCall& call, core::ErrorCode code,
                                            std::string_view phase, std::string_view cause);

}  // namespace league::transport::caller
