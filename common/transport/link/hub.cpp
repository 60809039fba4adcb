#include "common/transport/link/hub.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <thread>

namespace league::transport {

struct Hub::Impl {
  // One thread: asio needs no locks of its own around the handlers.
  boost::asio::io_context context{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work{
      context.get_executor()};
  std::jthread thread;
};

Hub::Hub() : impl_(std::make_unique<Impl>()) {}

core::Result<std::unique_ptr<Hub>> Hub::start() {
  try {
    std::unique_ptr<Hub> hub(new Hub());
    // The first timer or socket opens the descriptors that the loop needs. Here it can fail in
    // order; later, when strangers may have taken the last descriptor, it would end the program.
    const boost::asio::steady_timer opened(hub->impl_->context);
    hub->impl_->thread = std::jthread([&context = hub->impl_->context] { context.run(); });
    return hub;
  } catch (const std::exception& fault) {
    return core::Error{core::ErrorCode::kInternalError,
                       std::string("the event loop cannot be set up: ") + fault.what(),
                       {}};
  }
}

Hub::~Hub() { stop(); }

boost::asio::io_context& Hub::context() { return impl_->context; }

void Hub::post(std::function<void()> task) { boost::asio::post(impl_->context, std::move(task)); }

bool Hub::is_hub_thread() const { return std::this_thread::get_id() == impl_->thread.get_id(); }

void Hub::stop() {
  impl_->work.reset();
  impl_->context.stop();
  if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace league::transport
