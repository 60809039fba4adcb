#include "common/agent/peers/circuit_breaker.h"

namespace league::agent::peers {

bool CircuitBreaker::allow(const std::string& peer) {
  std::lock_guard lock(mutex_);
  auto found = peers_.find(peer);
  if (found == peers_.end() || found->second.failures < settings_.failures) return true;
  State& state = found->second;
  if (state.trial_running || clock_.steady_now() < state.open_until) return false;
  state.trial_running = true;
  return true;
}

void CircuitBreaker::on_success(const std::string& peer) {
  std::lock_guard lock(mutex_);
  peers_.erase(peer);
}

void CircuitBreaker::on_failure(const std::string& peer) {
  std::lock_guard lock(mutex_);
  State& state = peers_[peer];
  ++state.failures;
  state.trial_running = false;
  if (state.failures >= settings_.failures) state.open_until = clock_.steady_now() + settings_.open;
}

}  // namespace league::agent::peers
