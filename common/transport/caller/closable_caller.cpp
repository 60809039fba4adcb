#include "common/transport/caller/closable_caller.h"

namespace league::transport::caller {

void ClosableCaller::call(link::OutboundCall call, Completion completion) {
  if (try_call(call, completion)) return;
  link::CallOutcome outcome;
  outcome.error = core::Error{core::ErrorCode::kShuttingDown, "this program is being stopped", ""};
  completion(std::move(outcome));
}

bool ClosableCaller::try_call(link::OutboundCall& call, Completion& completion) {
  ++passing_;
  const bool is_open = !is_closed_;
  if (is_open) inner_->call(std::move(call), std::move(completion));
  --passing_;
  passing_.notify_all();
  return is_open;
}

void ClosableCaller::close() {
  is_closed_ = true;
  for (std::size_t passing = passing_; passing > 0; passing = passing_) passing_.wait(passing);
  inner_.reset();
}

}  // namespace league::transport::caller
