#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "common/core/clock.h"
#include "common/core/timer.h"
#include "common/transport/link/caller.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::caller {

/// Limits of calls over connections.
struct LinkCallerOptions {
  std::size_t max_per_endpoint =
      16;  ///< calls of one budget to one endpoint at once; more wait in its own queue
  std::size_t max_waiting = 4096;  ///< in the queue of one endpoint; more fail with kOverloaded
  std::size_t max_connections = 1024;  ///< the one that was idle longest is closed for a new one
  /// Connections to one endpoint. A second one is opened only if the request's id is pending on the
  /// others; a command never has more than one child process.
  std::size_t max_connections_per_endpoint = 8;
  /// An idle connection is closed after this long; a child process is not, since its memory would
  /// be lost.
  std::chrono::milliseconds connection_idle{60'000};
  /// How long the destructor waits for connections, above all child processes, to end.
  std::chrono::milliseconds farewell{900};
};

/// Calls peers over persistent connections: all schemes but plain HTTP. If a connection is lost,
/// the calls pending on it fail, and the next call opens another. Completions run on its executor,
/// so on a thread that brings an answer or calls, but never inside another completion. Thread-safe.
class LinkCaller final : public link::Caller {
 public:
  /// All outlive it; `connector` may still be working on a connection afterwards.
  LinkCaller(link::Connector& connector, const core::Clock& clock, core::Timer& timer,
             const LinkCallerOptions& options = {});
  /// Fails all calls with kShuttingDown and closes the connections; afterwards no completion runs.
  /// Must not be called on a thread that runs completions.
  ~LinkCaller() override;
  LinkCaller(const LinkCaller&) = delete;
  LinkCaller& operator=(const LinkCaller&) = delete;

  void call(link::OutboundCall call, Completion completion) override;

  /// Connections that are open now.
  [[nodiscard]] std::size_t connections() const;

 private:
  class Pool;
  std::shared_ptr<Pool> pool_;
};

}  // namespace league::transport::caller
