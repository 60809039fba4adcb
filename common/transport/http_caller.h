#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "common/core/result.h"
#include "common/transport/caller.h"

namespace league::transport {

/// What calls may take of this process.
struct HttpCallerOptions {
  std::size_t game_threads = 256;
  std::size_t broadcast_threads = 64;
  std::size_t control_threads = 64;
  std::size_t max_per_endpoint =
      16;  ///< calls of one budget to one endpoint at once; more wait in its own queue
  std::size_t max_response = 1024 * 1024;  ///< bytes of head and body, else kReplyTooLarge
  std::size_t max_idle_connections = 1024;  ///< the least recently used one is closed
  std::chrono::milliseconds connection_idle{30'000};
  std::chrono::milliseconds thread_idle{5000};
};

/// Calls peers over HTTP and HTTPS: a POST each, on connections that are kept alive, on threads
/// that come and go. Thread-safe. The destructor ends running calls with kShuttingDown and joins,
/// in well under a second (but for a host name that is being resolved at that moment).
class HttpCaller final : public Caller {
 public:
  /// Fails with kInternalError when the system refuses a descriptor.
  [[nodiscard]] static core::Result<std::unique_ptr<HttpCaller>> create(
      const HttpCallerOptions& options = {});
  ~HttpCaller() override;
  HttpCaller(const HttpCaller&) = delete;
  HttpCaller& operator=(const HttpCaller&) = delete;

  void call(OutboundCall call, Completion completion) override;

  /// Threads that exist now, of all budgets.
  [[nodiscard]] std::size_t threads() const;

 private:
  struct Impl;
  explicit HttpCaller(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace league::transport
