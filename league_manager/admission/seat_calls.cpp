#include "league_manager/admission/seat_calls.h"

#include <algorithm>

namespace league::league_manager::admission {
namespace {

/// Referees can count their plays as they like: any further ones count as one.
SeatedCall within_bounds(SeatedCall call) {
  constexpr int kMostReplays = 3;
  call.play = std::clamp(call.play, 0, kMostReplays);
  return call;
}

}  // namespace

void SeatCalls::note(const SeatedCall& call) {
  const std::lock_guard lock(mutex_);
  auto& calls = calls_[call.player];
  const bool is_other = !calls.empty() && (calls.begin()->first.match != call.match ||
                                           calls.begin()->first.attempt != call.attempt);
  if (is_other) calls.clear();
  calls.try_emplace(within_bounds(call), clock_.steady_now());
}

std::optional<core::Clock::Steady> SeatCalls::first(SeatedCall call) const {
  const std::lock_guard lock(mutex_);
  const auto calls = calls_.find(call.player);
  if (calls == calls_.end()) return std::nullopt;
  const auto found = calls->second.find(within_bounds(std::move(call)));
  if (found == calls->second.end()) return std::nullopt;
  return found->second;
}

}  // namespace league::league_manager::admission
