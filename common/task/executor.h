#pragma once

#include <boost/asio/execution/blocking.hpp>
#include <boost/asio/execution/context.hpp>
#include <functional>
#include <memory>
#include <utility>

namespace boost::asio {  // NOLINT(readability-identifier-naming): not ours
class execution_context;
}

namespace league::task {

/// Runs functions one after the other, in the order of their arrival, never two at a time: on the
/// thread that brings one, or, while another thread runs one, on that thread, after it. So what
/// belongs to one agent and is touched only here needs no lock, nobody waits for a thread to wake
/// up, and with a virtual clock everything happens on the thread of the test. Functions must not
/// block and must not throw. Thread-safe; copies are the same executor. Satisfies Boost.Asio's
/// requirements of an executor. Source: docs/architecture.md, "Waiting".
class Executor {
 public:
  Executor();

  /// Runs `function`: before this returns, if nothing else runs here, and never inside another
  /// function of this executor.
  void post(std::function<void()> function) const;
  /// Whether the calling function runs here.
  [[nodiscard]] bool is_here() const;

  /// As `post`, for Boost.Asio.
  template <typename Function>
  void execute(Function function) const {
    // Asio's functions can be moved only.
    auto held = std::make_shared<Function>(std::move(function));
    post([held] { std::move (*held)(); });
  }
  [[nodiscard]] static boost::asio::execution_context& query(boost::asio::execution::context_t);
  [[nodiscard]] static constexpr boost::asio::execution::blocking_t query(
      boost::asio::execution::blocking_t) noexcept {
    return boost::asio::execution::blocking.never;
  }
  friend bool operator==(const Executor&, const Executor&) noexcept = default;

 private:
  struct Queue;
  std::shared_ptr<Queue> queue_;
};

}  // namespace league::task
