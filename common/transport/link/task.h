#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "common/core/clock.h"
#include "common/task/task.h"

namespace league::transport::link {

using task::Task;

/// Where one task waits while it is closed. Not thread-safe.
class Gate {
 public:
  explicit Gate(boost::asio::io_context& context)
      : timer_(context, boost::asio::steady_timer::time_point::max()) {}

  void open() {
    is_open_ = true;
    timer_.cancel();
  }
  void close() { is_open_ = false; }
  /// The gate must live until the task goes on.
  Task<void> pass() {
    boost::system::error_code opened;
    while (!is_open_)
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, opened));
  }

 private:
  boost::asio::steady_timer timer_;
  bool is_open_ = false;
};

/// Runs a function at a time, unless it is destroyed or set anew before. One for a whole call costs
/// a third of what a timer beside each wait would. Not thread-safe.
class Alarm {
 public:
  Alarm(boost::asio::io_context& context, std::function<void()> act)
      : state_(std::make_shared<State>(context, std::move(act))) {}
  ~Alarm() {
    state_->act = nullptr;
    state_->timer.cancel();
  }
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;

  void set(core::Clock::Steady at) {
    state_->timer.expires_at(at);
    state_->timer.async_wait([state = state_](boost::system::error_code fault) {
      // The alarm may have been set again while this was on its way.
      const bool is_old = state->timer.expiry() > std::chrono::steady_clock::now();
      if (!fault && !is_old && state->act) state->act();
    });
  }

 private:
  struct State {
    State(boost::asio::io_context& context, std::function<void()> its_act)
        : timer(context), act(std::move(its_act)) {}
    boost::asio::steady_timer timer;
    std::function<void()> act;
  };
  std::shared_ptr<State> state_;
};

}  // namespace league::transport::link
