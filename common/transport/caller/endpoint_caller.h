#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "common/core/clock.h"
#include "common/core/result.h"
#include "common/core/timer.h"
#include "common/task/task.h"
#include "common/transport/caller/any_connector.h"
#include "common/transport/caller/closable_caller.h"
#include "common/transport/caller/http_caller.h"
#include "common/transport/caller/link_caller.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/event_loop.h"

namespace league::transport::caller {

/// Limits of calls over any transport.
struct EndpointCallerOptions {
  HttpCallerOptions http;
  LinkCallerOptions links;
  line::SubprocessOptions lines;  ///< of sockets and children
  bool repeats_refused = true;  ///< false: a refusal because of too many requests is the outcome
};

/// Calls endpoints of every scheme. It retries calls that were refused because of too many
/// requests: HTTP status 429, or a JSON-RPC error with `retry_after_ms` in its `data`. It waits as
/// long as the peer asks, plus a delay that grows with each refusal; if the deadline comes first,
/// the call ends with the refusal. Thread-safe.
class EndpointCaller final : public link::Caller {
 public:
  /// The callers for each kind of transport.
  struct Callers {
    std::unique_ptr<link::Caller> http;  ///< of plain HTTP
    std::shared_ptr<link::Connector> connector;  ///< of `links`, which it outlives
    std::unique_ptr<link::Caller> links;  ///< of all other schemes
  };

  /// `loop`, `timer` and `clock` outlive the caller. Fails as HttpCaller::create.
  [[nodiscard]] static core::Result<std::unique_ptr<EndpointCaller>> create(
      link::EventLoop& loop, core::Timer& timer, const core::Clock& clock,
      const EndpointCallerOptions& options = {});
  EndpointCaller(Callers callers, core::Timer& timer, const core::Clock& clock,
                 bool repeats_refused = true);
  /// Closes.
  ~EndpointCaller() override { close(); }
  EndpointCaller(const EndpointCaller&) = delete;
  EndpointCaller& operator=(const EndpointCaller&) = delete;

  void call(link::OutboundCall call, Completion completion) override;
  /// Fails waiting and running calls with kShuttingDown, closes connections and ends child
  /// processes; later calls fail at once. So services may go on calling while their program shuts
  /// down.
  void close();

 private:
  void send(link::OutboundCall call, Completion completion);
  /// Repeats a call that was refused, until it is not.
  task::Task<void> repeat(link::OutboundCall call, Completion completion,
                          std::chrono::milliseconds wait);
  /// How long to wait after the refusal with this number; nothing if `outcome` is to stand.
  [[nodiscard]] std::optional<std::chrono::milliseconds> wait_after(
      const link::CallOutcome& outcome, const link::OutboundCall& call, int refusals) const;

  core::Timer& timer_;
  const core::Clock& clock_;
  const bool repeats_refused_;
  ClosableCaller http_;
  std::shared_ptr<link::Connector> connector_;  // before what uses it
  ClosableCaller links_;
  std::optional<task::Scope> repetitions_;
};

/// An EndpointCaller with its own event loop and timer, for programs that only make calls.
/// Thread-safe.
class StandaloneCaller final : public link::Caller {
 public:
  /// Fails as EventLoop::start and HttpCaller::create.
  [[nodiscard]] static core::Result<std::unique_ptr<StandaloneCaller>> create(
      const EndpointCallerOptions& options = {});

  void call(link::OutboundCall call, Completion completion) override {
    caller_->call(std::move(call), std::move(completion));
  }

 private:
  explicit StandaloneCaller(std::unique_ptr<link::EventLoop> loop) : loop_(std::move(loop)) {}

  const std::unique_ptr<link::EventLoop> loop_;
  core::SystemClock clock_;
  core::ThreadTimer timer_;
  std::unique_ptr<EndpointCaller> caller_;  // last: it uses everything above
};

/// How long the peer asks us to wait; nothing if the outcome is not such a refusal.
[[nodiscard]] std::optional<std::chrono::milliseconds> wait_asked_for(
    const link::CallOutcome& outcome);

}  // namespace league::transport::caller
