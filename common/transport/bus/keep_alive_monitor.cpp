#include "common/transport/bus/keep_alive_monitor.h"

#include <mutex>
#include <utility>

namespace league::transport::bus {

/// Shared with the timer.
struct KeepAliveMonitor::State : std::enable_shared_from_this<State> {
  using Steady = core::Clock::Steady;

  State(const core::Clock& its_clock, core::Timer& its_timer,
        std::chrono::milliseconds its_interval, Callback its_callback)
      : clock(its_clock),
        timer(its_timer),
        interval(its_interval),
        on_silence(std::move(its_callback)),
        last_beat(its_clock.steady_now()) {}

  void look_again() {
    auto wanted = clock.steady_now() + interval / 2;
    timer.schedule(interval / 2, [weak = weak_from_this(), wanted] {
      if (auto self = weak.lock()) self->look(wanted);
    });
  }
  void look(Steady wanted) {
    {
      std::lock_guard lock(mutex);
      if (has_ended) return;
      auto now = clock.steady_now();
      if (now > wanted + interval / 2) last_beat = now;  // our own timer was late
      if (now < last_beat + 2 * interval) return look_again();
      is_silent = true;
      last_beat = now;
    }
    std::lock_guard calling(calling_mutex);
    if (!is_over()) on_silence();
    if (!is_over()) look_again();
  }
  [[nodiscard]] bool is_over() const {
    std::lock_guard lock(mutex);
    return has_ended;
  }

  const core::Clock& clock;
  core::Timer& timer;
  const std::chrono::milliseconds interval;
  const Callback on_silence;
  std::recursive_mutex calling_mutex;  // held while the callback runs
  mutable std::mutex mutex;  // guards the rest
  Steady last_beat;
  bool is_silent = false;
  bool has_ended = false;
};

KeepAliveMonitor::KeepAliveMonitor(const core::Clock& clock, core::Timer& timer,
                                   std::chrono::milliseconds interval, Callback on_silence)
    : state_(std::make_shared<State>(clock, timer, interval, std::move(on_silence))) {
  state_->look_again();
}

KeepAliveMonitor::~KeepAliveMonitor() {
  {
    std::lock_guard lock(state_->mutex);
    state_->has_ended = true;
  }
  // Waits for a callback that runs, unless it runs on this very thread.
  std::lock_guard calling(state_->calling_mutex);
}

bool KeepAliveMonitor::beat() {
  std::lock_guard lock(state_->mutex);
  state_->last_beat = state_->clock.steady_now();
  return std::exchange(state_->is_silent, false);
}

bool KeepAliveMonitor::is_silent() const {
  std::lock_guard lock(state_->mutex);
  return state_->is_silent;
}

}  // namespace league::transport::bus
