#include "bus/transport/keep_alive_monitor.h"

namespace league::transport::bus {

task::Task<void> KeepAliveMonitor::silence(std::chrono::milliseconds interval) {
  for (;;) {
    const auto wanted = clock_.steady_now() + interval / 2;
    co_await task::sleep_for(timer_, interval / 2);
    const auto now = clock_.steady_now();
    if (now > wanted + interval / 2) last_beat_ = now;  // our own timer was late
    if (now < last_beat_ + 2 * interval) continue;
    is_silent_ = true;
    last_beat_ = now;
    co_return;
  }
}

}  // namespace league::transport::bus
