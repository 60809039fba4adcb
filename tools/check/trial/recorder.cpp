#include "tools/check/trial/trial_league.h"

#include <utility>

namespace league::tools::check {

using transport::link::CallOutcome;
using transport::link::OutboundCall;

std::vector<TrialCall> Recorder::calls() const {
  std::lock_guard lock(mutex_);
  std::vector<TrialCall> copies;
  for (const auto& call : calls_) copies.push_back(*call);
  return copies;
}

void Recorder::forget() {
  std::lock_guard lock(mutex_);
  calls_.clear();
}

bool Recorder::wait(std::chrono::milliseconds limit,
                    const std::function<bool(const Calls&)>& condition) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [&] { return condition(calls_); });
}

std::shared_ptr<TrialCall> Recorder::begin(const OutboundCall& call) {
  auto one = std::make_shared<TrialCall>();
  one->type = call.notes->message_type;
  one->endpoint = call.endpoint.url();
  one->budget = call.budget;
  one->exchange.url = one->endpoint;
  one->exchange.sent = call.bytes.str();
  std::lock_guard lock(mutex_);
  calls_.push_back(one);
  return one;
}

void Recorder::answer(TrialCall& call, const CallOutcome& outcome) {
  std::lock_guard lock(mutex_);
  call.exchange = exchange_of(call.endpoint, std::move(call.exchange.sent), outcome);
  call.exchange.elapsed = outcome.elapsed;
  call.notes = outcome.notes;
  call.is_in_session = !outcome.wire_request.empty();
}

void Recorder::end(TrialCall& call) {
  std::lock_guard lock(mutex_);
  call.is_done = true;
  changed_.notify_all();
}

void RecordingCaller::call(OutboundCall call, Completion completion) {
  if (const auto found = stand_ins_.find(call.endpoint.url()); found != stand_ins_.end()) {
    // Not on the thread of the calling agent, which may hold a lock.
    timer_.schedule(std::chrono::nanoseconds(0),
                    [answer = &found->second, request = call.bytes.str(), notes = call.notes,
                     completion = std::move(completion)] {
                      CallOutcome outcome;
                      outcome.bytes = (*answer)(request);
                      outcome.http_status = 200;
                      outcome.notes = notes;
                      completion(std::move(outcome));
                    });
    return;
  }
  auto one = recorder_.begin(call);
  const bool is_elsewhere = call.endpoint.scheme == "nats" || is_seat(call.endpoint);
  Caller& way = bus_ != nullptr && is_elsewhere ? *bus_ : caller_;
  way.call(std::move(call), [&recorder = recorder_, one = std::move(one),
                             completion = std::move(completion)](CallOutcome outcome) {
    recorder.answer(*one, outcome);
    completion(std::move(outcome));
    recorder.end(*one);
  });
}

}  // namespace league::tools::check
