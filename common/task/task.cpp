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
  struct Scheduled {
    core::Timer& timer;
    core::Timer::Id id = 0;
    ~Scheduled() {
      if (id != 0) timer.cancel(id);
    }
  } scheduled{timer};
  co_await called_back<bool>([&scheduled, delay](auto wake) {
    scheduled.id = scheduled.timer.schedule(delay, [wake = std::move(wake)] { wake(true); });
  });
}

struct Scope::State {
  using Signals = std::list<std::shared_ptr<boost::asio::cancellation_signal>>;

  State(Executor its_executor, OnException its_on_exception)
      : executor(std::move(its_executor)), on_exception(std::move(its_on_exception)) {}

  /// What a task calls at its end. A type of its own: with a binder of Asio's, the signal would be
  /// passed on by a function that may run when it is gone.
  struct OnEnd {
    using cancellation_slot_type = boost::asio::cancellation_slot;
    [[nodiscard]] cancellation_slot_type get_cancellation_slot() const { return (*signal)->slot(); }
    void operator()(const std::exception_ptr& exception) const {
      state->on_ended(signal, exception);
    }

    std::shared_ptr<State> state;
    Signals::iterator signal;
  };

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

Spawned Scope::spawn(Task<void> task) {
  Spawned spawned(state_->executor, std::make_shared<boost::asio::cancellation_signal>());
  State::Signals::iterator signal;
  {
    std::lock_guard lock(state_->mutex);
    if (state_->is_stopped) return {};
    signal = state_->running.insert(state_->running.end(), spawned.signal_);
  }
  boost::asio::co_spawn(state_->executor, std::move(task), State::OnEnd{state_, signal});
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
