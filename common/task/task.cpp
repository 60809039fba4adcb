#include "common/task/task.h"

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <condition_variable>
#include <list>

namespace league::task {
namespace {

bool is_cancellation(const std::exception_ptr& exception) {
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& fault) {
    return task::is_cancellation(fault);
  } catch (...) {
    return false;
  }
}

Task<void> sleep(core::Timer* timer, std::chrono::nanoseconds delay) {
  ScheduledCall end(*timer);
  co_await called_back<bool>(
      [&end, delay](auto wake) { end.set(delay, [wake = std::move(wake)] { wake(true); }); });
}

}  // namespace

bool is_cancellation(const std::exception& fault) {
  const auto* error = dynamic_cast<const boost::system::system_error*>(&fault);
  return error != nullptr && error->code() == boost::asio::error::operation_aborted;
}

void Spawned::cancel() const {
  if (!signal_) return;
  executor_.post([signal = signal_] { signal->emit(boost::asio::cancellation_type::terminal); });
}

Task<void> sleep_for(core::Timer& timer, std::chrono::nanoseconds delay) {
  return sleep(&timer, delay);
}

struct Scope::State {
  class Running;
  using Signals = std::list<std::shared_ptr<boost::asio::cancellation_signal>>;

  State(Executor its_executor, OnException its_on_exception)
      : executor(std::move(its_executor)), on_exception(std::move(its_on_exception)) {}

  const Executor executor;
  const OnException on_exception;
  std::mutex mutex;
  std::condition_variable ended;
  Signals running;  ///< one per task; emitted and erased on the executor only
  bool is_stopped = false;
};

/// A task's place among those that run, given to Asio as the function to be called at the task's
/// end. It has its cancellation slot as a member because Asio posts the signals of a slot that is
/// bound in another way, perhaps behind the end of the task, to where the signal no longer is.
class Scope::State::Running {
 public:
  using cancellation_slot_type = boost::asio::cancellation_slot;

  Running(std::shared_ptr<State> state, State::Signals::iterator signal)
      : state_(std::move(state)), signal_(signal) {}
  Running(Running&&) = default;
  ~Running() {
    if (!state_) return;
    std::lock_guard lock(state_->mutex);
    state_->running.erase(signal_);
    if (state_->running.empty()) state_->ended.notify_all();
  }
  [[nodiscard]] cancellation_slot_type get_cancellation_slot() const noexcept {
    return (*signal_)->slot();
  }
  void operator()(const std::exception_ptr& exception) const {
    if (exception && state_->on_exception && !is_cancellation(exception))
      state_->on_exception(exception);
  }

 private:
  std::shared_ptr<State> state_;
  State::Signals::iterator signal_;
};

Scope::Scope(Executor executor, OnException on_exception)
    : state_(std::make_shared<State>(std::move(executor), std::move(on_exception))) {}

Scope::~Scope() {
  stop();
  std::unique_lock lock(state_->mutex);
  state_->ended.wait(lock, [this] { return state_->running.empty(); });
}

Spawned Scope::spawn(Task<void> task) {
  Spawned spawned(state_->executor, std::make_shared<boost::asio::cancellation_signal>());
  State::Signals::iterator signal;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->is_stopped) return {};
    signal = state_->running.insert(state_->running.end(), spawned.signal_);
  }
  boost::asio::co_spawn(state_->executor, std::move(task), State::Running(state_, signal));
  return spawned;
}

void Scope::stop() {
  {
    std::lock_guard lock(state_->mutex);
    if (std::exchange(state_->is_stopped, true)) return;
  }
  state_->executor.post([state = state_] {
    // No task ends while this runs: what ends it is posted.
    for (auto& signal : state->running) signal->emit(boost::asio::cancellation_type::terminal);
  });
}

const Executor& Scope::executor() const { return state_->executor; }

}  // namespace league::task
