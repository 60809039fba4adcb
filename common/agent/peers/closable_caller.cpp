#include "common/agent/peers/closable_caller.h"

#include <mutex>

namespace league::agent::peers {

void ClosableCaller::call(transport::link::OutboundCall call, Completion completion) {
  {
    std::shared_lock lock(mutex_);
    if (inner_) {
      // The inner caller only queues the call while the lock is held. Completions run later on
      // another thread, except for a call that is refused at once.
      inner_->call(std::move(call), std::move(completion));
      return;
    }
  }
  transport::link::CallOutcome outcome;
  outcome.error = core::Error{core::ErrorCode::kShuttingDown, "this program is being stopped", ""};
  completion(std::move(outcome));
}

void ClosableCaller::close() {
  std::unique_ptr<transport::link::Caller> closing;
  {
    std::unique_lock lock(mutex_);
    closing = std::move(inner_);
  }
}

}  // namespace league::agent::peers
