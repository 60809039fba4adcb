#include "common/agent/seats/seat_caller.h"

#include <utility>

namespace league::agent::seats {

void SeatCaller::call(transport::link::OutboundCall call, Completion completion) {
  if (seats_ == nullptr || call.endpoint.scheme != kSeatScheme)
    return others_.call(std::move(call), std::move(completion));
  const auto begun = clock_.steady_now();
  SeatCall to_player{
      .bytes = call.bytes, .id = call.id, .caller = "league_manager", .deadline = call.deadline};
  seats_->call(call.endpoint.path, std::move(to_player),
               [this, begun, context = std::move(call.context), notes = std::move(call.notes),
                completion = std::move(completion)](SeatAnswer answer) {
                 transport::link::CallOutcome outcome;
                 outcome.error = std::move(answer.error);
                 outcome.bytes = std::move(answer.bytes);
                 outcome.wire_request = std::move(answer.offered);
                 outcome.wire_answer = std::move(answer.given);
                 outcome.context = context.for_response(clock_);
                 outcome.http_status = outcome.error ? 0 : 200;
                 outcome.elapsed = clock_.steady_now() - begun;
                 outcome.sent_at = answer.sent_at;
                 completion(std::move(outcome));
               });
}

}  // namespace league::agent::seats
