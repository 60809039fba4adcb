#include "common/transport/bus/jet_requests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/transport/bus/jet_stream_api.h"

namespace league::transport::bus {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kJetAskAgain = 1s;
/// A broker that is starting has its streams within moments.
constexpr std::chrono::milliseconds kJetNobodyThere = 100ms;

}  // namespace

void JetRequests::ask(BusMessage request, core::Clock::Steady deadline, Repeat repeat,
                      Answered answered) {
  std::unique_lock lock(mutex_);
  if (is_ended_) {
    lock.unlock();
    return answered(jet_stopping());
  }
  const std::uint64_t number = ++last_number_;
  request.reply = parts_.inbox + std::to_string(number);
  asked_.emplace(
      number,
      PendingRequest{std::move(request), deadline, repeat, std::move(answered), 0, false, {}});
  lock.unlock();
  send(number);
}

/// Under the lock.
void JetRequests::wait(std::uint64_t number, PendingRequest& asked,
                       core::Clock::Steady::duration longest) {
  if (asked.due != 0) parts_.timer.cancel(asked.due);
  auto left =
      std::max(asked.deadline - parts_.clock.steady_now(), core::Clock::Steady::duration::zero());
  asked.due = parts_.timer.schedule(std::min(left, longest), [weak = weak_from_this(), number] {
    if (auto self = weak.lock()) self->on_due(number);
  });
}

void JetRequests::send(std::uint64_t number) {
  BusMessage request;
  {
    std::lock_guard lock(mutex_);
    auto found = asked_.find(number);
    if (found == asked_.end()) return;
    request = found->second.request;
    found->second.is_taken = true;
    wait(number, found->second, kJetAskAgain);
  }
  auto published = parts_.bus.publish(request);
  if (published) return;
  auto error = published.error();
  if (error.code == core::ErrorCode::kConnectionError) return ask_later(number, error.message);
  // Scheduled, because the caller does not expect the answer before this returns.
  parts_.timer.schedule(0ns, [weak = weak_from_this(), number, error] {
    if (auto self = weak.lock()) self->finish(number, error);
  });
}

void JetRequests::ask_later(std::uint64_t number, const std::string& why) {
  std::lock_guard lock(mutex_);
  auto found = asked_.find(number);
  if (found == asked_.end()) return;
  found->second.is_taken = false;
  found->second.why = why;
  wait(number, found->second, kJetNobodyThere);
}

void JetRequests::on_due(std::uint64_t number) {
  bool is_over = false;
  std::string why;
  {
    std::lock_guard lock(mutex_);
    auto found = asked_.find(number);
    if (found == asked_.end()) return;
    auto& asked = found->second;
    is_over = parts_.clock.steady_now() >= asked.deadline;
    bool is_sent_again =
        parts_.bus.is_connected() && (asked.repeat != Repeat::kUnlessTaken || !asked.is_taken);
    if (!is_over && !is_sent_again) return wait(number, asked, kJetAskAgain);
    why = asked.why.empty() ? asked.request.subject + " is not answered" : asked.why;
  }
  if (!is_over) return send(number);
  if (!parts_.bus.is_connected()) why = "the bus at " + parts_.bus.url() + " cannot be reached";
  finish(number, core::Error{core::ErrorCode::kConnectionError, why, {}});
}

void JetRequests::on_answer(std::uint64_t number, BusMessage message) {
  if (message.is_no_responders)
    return ask_later(number, "the broker at " + parts_.bus.url() + " has no JetStream for " +
                                 subject_of(number) + " (nats-server -js)");
  if (is_not_ready(message.payload))
    return ask_later(number, refusal_error(*read_refusal(message.payload)).message);
  finish(number, std::move(message));
}

std::string JetRequests::subject_of(std::uint64_t number) {
  std::lock_guard lock(mutex_);
  auto found = asked_.find(number);
  return found == asked_.end() ? std::string() : found->second.request.subject;
}

void JetRequests::finish(std::uint64_t number, const core::Result<BusMessage>& answer) {
  // Removed within the gate, because `end` fails all requests that did not pass the gate.
  parts_.gate->run([this, self = shared_from_this(), number, &answer] {
    Answered answered;
    {
      std::lock_guard lock(mutex_);
      auto found = asked_.find(number);
      if (found == asked_.end()) return;
      if (found->second.due != 0) parts_.timer.cancel(found->second.due);
      answered = std::move(found->second.answered);
      asked_.erase(found);
    }
    answered(answer);
  });
}

void JetRequests::ask_all_again() {
  std::vector<std::uint64_t> numbers;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [number, asked] : asked_) {
      if (asked.repeat != Repeat::kUnlessTaken || !asked.is_taken) numbers.push_back(number);
    }
  }
  for (auto number : numbers) send(number);
}

void JetRequests::end() {
  std::map<std::uint64_t, PendingRequest> asked;
  {
    std::lock_guard lock(mutex_);
    is_ended_ = true;
    asked.swap(asked_);
  }
  for (auto& [number, each] : asked) {
    if (each.due != 0) parts_.timer.cancel(each.due);
    each.answered(jet_stopping());
  }
}

}  // namespace league::transport::bus
