#pragma once

#include <boost/asio/co_spawn.hpp>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "common/core/await.h"
#include "common/task/task.h"

namespace league::transport::bus {

namespace detail {

template <typename Owner, typename T, typename Then>
task::Task<void> give_from(std::shared_ptr<Owner> /*kept*/, task::Task<T> task, Then done) {
  done(co_await std::move(task));
}

}  // namespace detail

/// Begins `task` on the executor, and calls `done` with its result. The task keeps `owner` and is
/// never cancelled: the owner's end lets it go on. So the owner may end within `done`, where no
/// Scope could join its tasks. Thread-safe.
template <typename Owner, typename T, typename Then>
void give(const task::Executor& executor, std::shared_ptr<Owner> owner, task::Task<T> task,
          Then done) {
  boost::asio::co_spawn(executor,
                        detail::give_from(std::move(owner), std::move(task), std::move(done)),
                        [](const std::exception_ptr& thrown) {
                          if (thrown) std::terminate();  // the executor could not go on
                        });
}

/// Runs `task` on an executor of its own, and blocks until it has ended. Returns its result.
template <typename T>
T run_to_end(task::Task<T> task) {
  return core::await<T>([&task](auto done) {
    give(task::Executor(), std::shared_ptr<void>(), std::move(task), std::move(done));
  });
}

/// Runs `end` on the executor, and returns when it and the tasks that it lets go on have run; on
/// the executor itself, those tasks go on afterwards. Thread-safe.
inline void end_on(const task::Executor& executor, std::function<void()> end) {
  if (executor.is_here()) return end();
  auto all_told = std::make_shared<std::promise<void>>();
  auto told = all_told->get_future();
  executor.post([&executor, &end, all_told] {
    end();
    executor.post([all_told] { all_told->set_value(); });  // behind the tasks that go on
  });
  told.wait();
}

}  // namespace league::transport::bus
