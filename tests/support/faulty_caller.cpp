#include "tests/support/faulty_caller.h"

#include <memory>

namespace league::testing {

void FaultyCaller::time_out(core::Clock::Steady deadline, Completion completion) {
  timer_.schedule(deadline - clock_.steady_now(), [completion = std::move(completion)] {
    transport::link::CallOutcome outcome;
    outcome.error = core::Error{core::ErrorCode::kTimeout, "lost on a bad network", ""};
    completion(std::move(outcome));
  });
}

void FaultyCaller::call(transport::link::OutboundCall call, Completion completion) {
  Fault fault = plan_ ? plan_(from_, call) : Fault{};
  switch (fault.kind) {
    case Fault::Kind::kNone:
      return inner_.call(std::move(call), std::move(completion));
    case Fault::Kind::kLoseRequest:
      return time_out(call.deadline, std::move(completion));
    case Fault::Kind::kLoseReply:
      time_out(call.deadline, std::move(completion));
      return inner_.call(std::move(call), [](const transport::link::CallOutcome&) {});
    case Fault::Kind::kDelay: {
      auto held = std::make_shared<transport::link::OutboundCall>(std::move(call));
      timer_.schedule(fault.delay, [this, held, completion = std::move(completion)] {
        inner_.call(std::move(*held), completion);
      });
      return;
    }
    case Fault::Kind::kDuplicate: {
      transport::link::OutboundCall copy = call;
      copy.notes = std::make_shared<rpc::MessageNotes>(*call.notes);
      inner_.call(std::move(call), std::move(completion));
      return inner_.call(std::move(copy), [](const transport::link::CallOutcome&) {});
    }
    case Fault::Kind::kRefuse:
      break;
  }
  timer_.schedule(std::chrono::nanoseconds(0), [completion = std::move(completion)] {
    transport::link::CallOutcome outcome;
    outcome.error = core::Error{core::ErrorCode::kConnectionError, "connection refused", ""};
    completion(std::move(outcome));
  });
}

}  // namespace league::testing
