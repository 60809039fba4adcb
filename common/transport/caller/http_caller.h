#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "common/core/result.h"
#include "common/transport/link/caller.h"

namespace league::transport::caller {

/// Limits of outgoing HTTP calls.
struct HttpCallerOptions {
  std::size_t game_calls = 256;  ///< of that budget, at once; more wait, and peers take turns
  std::size_t broadcast_calls = 64;
  std::size_t control_calls = 64;
  std::size_t max_per_endpoint =
      16;  ///< calls of one budget to one endpoint at once; more wait in its own queue
  std::size_t max_response = 1024 * 1024;  ///< bytes of a body, else kReplyTooLarge
  std::size_t max_idle_connections = 1024;  ///< the least recently used ones are closed
  /// Short, because a server with a single thread serves nobody else while a connection is open:
  /// the manager and each referee would lock each other out of such a bot.
  std::chrono::milliseconds connection_idle{1'000};
};

/// Calls peers over HTTP and HTTPS: each call is a POST on a connection that is kept alive. All run
/// on one thread of its own, as do the completions. Thread-safe.
class HttpCaller final : public link::Caller {
 public:
  /// Fails as EventLoop::start.
  [[nodiscard]] static core::Result<std::unique_ptr<HttpCaller>> create(
      const HttpCallerOptions& options = {});
  /// Ends running calls with kShuttingDown and joins, in well under a second (but for a host name
  /// that is being resolved at that moment). Not on the thread of the completions.
  ~HttpCaller() override;
  HttpCaller(const HttpCaller&) = delete;
  HttpCaller& operator=(const HttpCaller&) = delete;

  void call(link::OutboundCall call, Completion completion) override;

 private:
  struct Impl;
  explicit HttpCaller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace league::transport::caller
