#pragma once

#include <atomic>
#include <memory>

#include "common/transport/link/caller.h"

namespace league::transport::caller {

/// A Caller that can be closed while others still hold it: afterwards each call ends at once with
/// kShuttingDown. Services can therefore keep calling while their program shuts down. No lock is
/// held while a call is passed on, because completions of other calls may run there. Thread-safe.
class ClosableCaller final : public link::Caller {
 public:
  explicit ClosableCaller(std::unique_ptr<link::Caller> inner) : inner_(std::move(inner)) {}

  void call(link::OutboundCall call, Completion completion) override;
  /// Passes the call on; false if this is closed, which leaves both as they are.
  [[nodiscard]] bool try_call(link::OutboundCall& call, Completion& completion);
  /// Ends running calls and waits for their completions; so it is not called by one of them, nor
  /// on two threads at once.
  void close();

 private:
  std::atomic<bool> is_closed_ = false;
  std::atomic<std::size_t> passing_ = 0;  ///< calls that are passed on now
  std::unique_ptr<link::Caller> inner_;  ///< removed when nothing is passed on any more
};

}  // namespace league::transport::caller
