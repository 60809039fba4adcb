#include "bus/agent/bus_echo.h"

#include <algorithm>

namespace league::agent::bus {
namespace {

constexpr auto kEchoInterval = std::chrono::milliseconds(250);
constexpr auto kEchoPatience = std::chrono::seconds(1);
constexpr auto kEchoesRemembered = std::chrono::minutes(10);

}  // namespace

struct BusEcho::State : std::enable_shared_from_this<State> {
  State(core::Timer& its_timer, const core::Clock& its_clock)
      : timer(its_timer), clock(its_clock) {}

  void tick() {
    {
      std::lock_guard lock(mutex);
      if (is_over) return;
      if (!since) since = clock.steady_now();
    }
    changed.notify_all();
    timer.schedule(kEchoInterval, [weak = weak_from_this()] {
      if (auto self = weak.lock()) self->tick();
    });
  }

  /// Waits until an echo is to be requested; false if measuring has ended.
  bool wait_for_turn() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return is_over || since.has_value(); });
    return !is_over;
  }

  void on_echo() {
    std::lock_guard lock(mutex);
    const auto now = clock.steady_now();
    while (!samples.empty() && samples.front().to + kEchoesRemembered < now) samples.pop_front();
    samples.push_back({.to = now, .took = now - *std::exchange(since, std::nullopt)});
  }

  struct Sample {
    core::Clock::Steady to;
    std::chrono::nanoseconds took;
  };

  core::Timer& timer;
  const core::Clock& clock;
  std::mutex mutex;  // guards the rest
  std::condition_variable changed;
  std::optional<core::Clock::Steady> since;  ///< when the pending echo was requested
  std::deque<Sample> samples;  ///< ordered by their end
  bool is_over = false;
};

BusEcho::BusEcho(transport::bus::Bus& bus, core::Timer& timer, const core::Clock& clock)
    : bus_(bus), state_(std::make_shared<State>(timer, clock)), thread_([this] { measure(); }) {
  state_->tick();
}

BusEcho::~BusEcho() { stop(); }

void BusEcho::stop() {
  {
    std::lock_guard lock(state_->mutex);
    state_->is_over = true;
  }
  state_->changed.notify_all();
  if (thread_.joinable()) thread_.join();
}

void BusEcho::measure() {
  while (state_->wait_for_turn()) {
    if (bus_.flush(kEchoPatience)) {
      state_->on_echo();
      continue;
    }
    // Without a connection a flush fails at once.
    std::unique_lock lock(state_->mutex);
    state_->changed.wait_for(lock, kEchoInterval, [this] { return state_->is_over; });
  }
}

std::chrono::nanoseconds BusEcho::worst_since(core::Clock::Steady from) const {
  std::lock_guard lock(state_->mutex);
  std::chrono::nanoseconds worst{};
  if (state_->since) worst = state_->clock.steady_now() - *state_->since;
  for (auto it = state_->samples.rbegin(); it != state_->samples.rend() && it->to >= from; ++it)
    worst = std::max(worst, it->took);
  return worst;
}

}  // namespace league::agent::bus
