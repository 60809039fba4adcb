#include "common/transport/link/event_loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

namespace league::transport::link {

struct EventLoop::Impl {
  // One thread: asio needs no locks of its own around the handlers.
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::jthread thread;
};

EventLoop::EventLoop() : impl_(std::make_unique<Impl>()) {}

core::Result<std::unique_ptr<EventLoop>> EventLoop::start() {
  try {
    std::unique_ptr<EventLoop> loop(new EventLoop());
    // The first timer or socket opens the descriptors that the loop needs. Here a failure can be
    // reported; later, when strangers may have taken the last descriptor, it would end the program.
    const boost::asio::steady_timer opened(loop->impl_->context);
    loop->impl_->thread = std::jthread([&context = loop->impl_->context] { context.run(); });
    return loop;
  } catch (const std::exception& fault) {
    return core::Error{core::ErrorCode::kInternalError,
                       std::string("the event loop cannot be set up: ") + fault.what(),
                       {}};
  }
}

EventLoop::~EventLoop() { stop(); }

boost::asio::io_context& EventLoop::context() { return impl_->context; }

void EventLoop::post(std::function<void()> task) {
  boost::asio::post(impl_->context, std::move(task));
}

bool EventLoop::is_loop_thread() const {
  return std::this_thread::get_id() == impl_->thread.get_id();
}

void EventLoop::stop() {
  impl_->work.reset();
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace league::transport::link
