#pragma once

#include <memory>
#include <shared_mutex>

#include "common/transport/link/caller.h"

namespace league::agent::peers {

/// A Caller that can be closed while others still hold it: afterwards each call ends at once with
/// kShuttingDown. Services can therefore keep calling while their program shuts down. Thread-safe.
class ClosableCaller final : public transport::link::Caller {
 public:
  explicit ClosableCaller(std::unique_ptr<transport::link::Caller> inner)
      : inner_(std::move(inner)) {}

  void call(transport::link::OutboundCall call, Completion completion) override;
  /// Ends running calls and waits for their completions.
  void close();

 private:
  std::shared_mutex mutex_;  // shared: inner_ is in use; exclusive: inner_ is removed
  std::unique_ptr<transport::link::Caller> inner_;
};

}  // namespace league::agent::peers
