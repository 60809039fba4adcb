#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "bus/agent/nats_host.h"
#include "common/task/task.h"

namespace league::agent::bus {
namespace {

constexpr auto kEchoInterval = std::chrono::milliseconds(250);
constexpr auto kEchoPatience = std::chrono::seconds(1);
constexpr auto kEchoesRemembered = std::chrono::minutes(10);

class BusEcho final : public runtime::BrokerDelay {
 public:
  BusEcho(transport::bus::Bus& bus, core::Timer& timer, const core::Clock& clock)
      : bus_(bus), timer_(timer), clock_(clock), thread_([this] { measure(); }) {
    ticks_.spawn(tick());
  }
  ~BusEcho() override { stop(); }
  BusEcho(const BusEcho&) = delete;
  BusEcho& operator=(const BusEcho&) = delete;

  void stop() override {
    ticks_.stop();
    {
      std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  [[nodiscard]] std::chrono::nanoseconds worst_since(core::Clock::Steady from) const override {
    std::lock_guard lock(mutex_);
    std::chrono::nanoseconds worst{};
    if (since_) worst = clock_.steady_now() - *since_;
    for (auto it = samples_.rbegin(); it != samples_.rend() && it->to >= from; ++it)
      worst = std::max(worst, it->took);
    return worst;
  }

 private:
  struct Sample {
    core::Clock::Steady to;
    std::chrono::nanoseconds took;
  };

  task::Task<void> tick() {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (!since_) since_ = clock_.steady_now();
      }
      changed_.notify_all();
      co_await task::sleep_for(timer_, kEchoInterval);
    }
  }
  /// On the thread, which waits for the broker.
  void measure() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return is_over_ || since_.has_value(); });
      if (is_over_) return;
      lock.unlock();
      const bool is_answered = bus_.flush(kEchoPatience);
      lock.lock();
      if (is_answered)
        on_echo();
      else  // without a connection a flush fails at once
        changed_.wait_for(lock, kEchoInterval, [this] { return is_over_; });
    }
  }
  /// Under the lock.
  void on_echo() {
    const auto now = clock_.steady_now();
    while (!samples_.empty() && samples_.front().to + kEchoesRemembered < now) samples_.pop_front();
    samples_.push_back({.to = now, .took = now - *std::exchange(since_, std::nullopt)});
  }

  transport::bus::Bus& bus_;
  core::Timer& timer_;
  const core::Clock& clock_;
  mutable std::mutex mutex_;  // guards the next four
  std::condition_variable changed_;
  std::optional<core::Clock::Steady> since_;  ///< when the pending echo was requested
  std::deque<Sample> samples_;  ///< ordered by their end
  bool is_over_ = false;
  std::thread thread_;
  // A fault ends the program, as one on the timer would.
  task::Scope ticks_{task::Executor(), [](const std::exception_ptr&) { std::terminate(); }};
};

}  // namespace

std::unique_ptr<runtime::BrokerDelay> measure_broker(transport::bus::Bus& bus, core::Timer& timer,
                                                     const core::Clock& clock) {
  return std::make_unique<BusEcho>(bus, timer, clock);
}

}  // namespace league::agent::bus
