#include "common/task/task.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <condition_variable>
#include <list>

namespace league::task {
namespace {

bool is_cancellation(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const boost::system::system_error& fault) {
    return fault.code() == boost::asio::error::operation_aborted;
  } catch (...) {
    return false;
  }
}

Task<void> sleep(core::Timer* timer, std::chrono::nanoseconds delay) {
  detail::ScheduledCall end(*timer);
  co_await called_back<bool>(
      [&end, delay](auto wake) { end.set(delay, [wake = std::move(wake)] { wake(true); }); });
}

}  // namespace

Task<void> sleep_for(core::Timer& timer, std::chrono::nanoseconds delay) {
  return sleep(&timer, delay);
}

struct Scope::State {
  using Signals = std::list<boost::asio::cancellation_signal>;

  State(Executor its_executor, OnException its_on_exception)
      : executor(std::move(its_executor)), on_exception(std::move(its_on_exception)) {}

  void on_ended(Signals::iterator signal, const std::exception_ptr& exception) {
    if (exception && on_exception && !is_cancellation(exception)) on_exception(exception);
    std::lock_guard lock(mutex);
    running.erase(signal);
    if (running.empty()) ended.notify_all();
  }

  const Executor executor;
  const OnException on_exception;
  std::mutex mutex;
  std::condition_variable ended;
  Signals running;  ///< one per task; emitted and erased on the executor only
  bool is_stopped = false;
};

Scope::Scope(Executor executor, OnException on_exception)
    : state_(std::make_shared<State>(std::move(executor), std::move(on_exception))) {}

Scope::~Scope() {
  stop();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [this] { return state_->running.empty(); });
}

void Scope::spawn(Task<void> task) {
  State::Signals::iterator signal;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->is_stopped) return;
    signal = state_->running.emplace(state_->running.end());
  }
  boost::asio::co_spawn(
      state_->executor, std::move(task),
      boost::asio::bind_cancellation_slot(
          signal->slot(), [state = state_, signal](const std::exception_ptr& exception) {
            state->on_ended(signal, exception);
          }));
}

void Scope::stop() {
  {
    std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->is_stopped, true)) return;
  }
  state_->executor.post([state = state_] {
    // No task ends while this runs: what ends it is posted.
    for (auto& signal : state->running) signal.emit(boost::asio::cancellation_type::terminal);
  });
}

const Executor& Scope::executor() const { return state_->executor; }

}  // namespace league::task
