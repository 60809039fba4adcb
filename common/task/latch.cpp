#include "common/task/latch.h"

namespace league::task {

void Latch::count_down() {
  if (count_ == 0 || --count_ > 0) return;
  for (const auto& wake : std::exchange(waiting_, {})) wake(true);
}

Task<void> Latch::wait() {
  if (count_ == 0) co_return;
  co_await called_back<bool>([this](auto wake) { waiting_.push_back(std::move(wake)); });
}

Task<bool> Latch::wait_until(core::Timer* timer, std::chrono::nanoseconds limit) {
  if (count_ == 0) co_return true;
  ScheduledCall end(*timer);
  co_return co_await called_back<bool>([this, &end, limit](auto wake) {
    waiting_.push_back(wake);
    end.set(limit, [wake = std::move(wake)] { wake(false); });
  });
}

}  // namespace league::task
