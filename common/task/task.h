#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "common/core/timer.h"
#include "common/task/executor.h"

namespace league::task {

/// What a function returns that waits: it reads from top to bottom, `co_await` is where it waits,
/// and all of it runs on one executor (of an agent) or on the thread of one event loop (of
/// connections). Its parameters are values, or outlive it. Cancelled, it ends with
/// boost::system::system_error (operation_aborted) at its next wait; other errors are Results.
/// Source: docs/architecture.md, "Waiting".
template <typename T>
using Task = boost::asio::awaitable<T>;

namespace detail {

/// A task that waits to be called back. Thread-safe.
template <typename T, typename Handler>
class Awaited {
 public:
  explicit Awaited(Handler handler) : handler_(std::move(handler)) {}
  /// Nobody can call back any more: the task ends as if it had been cancelled.
  ~Awaited() { end(boost::asio::error::operation_aborted, std::nullopt); }
  Awaited(const Awaited&) = delete;
  Awaited& operator=(const Awaited&) = delete;

  [[nodiscard]] auto cancellation_slot() const {
    return boost::asio::get_associated_cancellation_slot(*handler_);
  }
  /// Lets the task go on, soon, on its executor; a second call does nothing.
  void end(boost::system::error_code fault, std::optional<T> value) {
    std::optional<Handler> handler;
    {
      std::lock_guard lock(mutex_);
      if (!handler_) return;
      handler.emplace(std::move(*handler_));
      handler_.reset();
    }
    const auto executor = boost::asio::get_associated_executor(*handler);
    boost::asio::post(executor,
                      [handler = std::move(*handler), fault, value = std::move(value)]() mutable {
                        boost::asio::get_associated_cancellation_slot(handler).clear();
                        std::move(handler)(fault, std::move(value));
                      });
  }

 private:
  std::mutex mutex_;
  std::optional<Handler> handler_;
};

}  // namespace detail

/// Calls a function at a time, unless it is destroyed before: a limit of what a task waits for. On
/// the timer's thread, so the function is a callback or posts. `timer` outlives it.
class ScheduledCall {
 public:
  explicit ScheduledCall(core::Timer& timer) : timer_(timer) {}
  ~ScheduledCall() {
    if (id_ != 0) timer_.cancel(id_);
  }
  ScheduledCall(const ScheduledCall&) = delete;
  ScheduledCall& operator=(const ScheduledCall&) = delete;

  void set(std::chrono::nanoseconds delay, core::Timer::Function function) {
    id_ = timer_.schedule(delay, std::move(function));
  }

 private:
  core::Timer& timer_;
  core::Timer::Id id_ = 0;
};

/// Waits for a function that calls back: `start` gets the callback, which must be called once, at
/// once or later, on any thread, and returns what it was called with. A task that is cancelled does
/// not wait for the call, which then has no effect; and a callback that is dropped cancels the
/// task.
template <typename T, typename Start>
Task<T> called_back(Start start) {
  using Called = void(boost::system::error_code, std::optional<T>);
  auto value = co_await boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, Called>(
      [](auto handler, Start its_start) {
        using Awaited = detail::Awaited<T, decltype(handler)>;
        auto awaited = std::make_shared<Awaited>(std::move(handler));
        if (auto slot = awaited->cancellation_slot(); slot.is_connected()) {
          slot.assign([held = std::weak_ptr(awaited)](boost::asio::cancellation_type) {
            if (auto cancelled = held.lock())
              cancelled->end(boost::asio::error::operation_aborted, std::nullopt);
          });
        }
        its_start([awaited](T answer) { awaited->end({}, std::move(answer)); });
      },
      boost::asio::use_awaitable, std::move(start));
  co_return std::move(*value);
}

/// Waits for `delay`; `timer` outlives the task.
Task<void> sleep_for(core::Timer& timer, std::chrono::nanoseconds delay);

/// Whether a task ended with `fault` because it was cancelled.
[[nodiscard]] bool is_cancellation(const std::exception& fault);

/// A task that a Scope has begun. Thread-safe; copies are the same task.
class Spawned {
 public:
  Spawned() = default;
  /// Cancels the task: it ends at its next wait, or at its present one. Does nothing after its end.
  void cancel() const;

 private:
  friend class Scope;
  Spawned(Executor executor, std::shared_ptr<boost::asio::cancellation_signal> signal)
      : executor_(std::move(executor)), signal_(std::move(signal)) {}

  Executor executor_;
  std::shared_ptr<boost::asio::cancellation_signal> signal_;
};

/// Owns tasks on one executor. A task that ends with an exception, other than by being cancelled,
/// is reported to `on_exception`. Thread-safe.
class Scope {
 public:
  using OnException = std::function<void(std::exception_ptr)>;

  Scope(Executor executor, OnException on_exception);
  /// Cancels the tasks and waits until all have ended; so it is not called on their executor.
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

  /// Begins `task`, on the executor. After stop() it is dropped instead.
  Spawned spawn(Task<void> task);
  /// Cancels the tasks: each ends at its next wait, or at its present one. What they have called
  /// runs on.
  void stop();
  [[nodiscard]] const Executor& executor() const;

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace league::task
