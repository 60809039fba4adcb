#pragma once

#include <memory>
#include <utility>

#include "common/transport/link/event_loop.h"
#include "common/transport/link/message_connection.h"

namespace league::transport::client {

/// The handle that users of a connection hold: passes calls from any thread on to the core on the
/// event loop's thread, and closes the core when destroyed. `Core` has start, send, set_reading and
/// close, called only on the event loop's thread, and transport_type and current_context, called on
/// any thread.
template <typename Interface, typename Core>
class ConnectionHandle : public Interface {
 public:
  ConnectionHandle(link::EventLoop& loop, std::shared_ptr<Core> core)
      : loop_(loop), core_(std::move(core)) {}
  ~ConnectionHandle() override { close(); }
  ConnectionHandle(const ConnectionHandle&) = delete;
  ConnectionHandle& operator=(const ConnectionHandle&) = delete;

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    run([receiver = std::move(receiver)](Core& core) { core.start(receiver); });
  }
  void send(link::OutboundMessage message) override {
    run([message = std::move(message)](Core& core) mutable { core.send(std::move(message)); });
  }
  void set_reading(bool is_on) override {
    if (loop_.is_loop_thread() && !is_on) return core_->set_reading(false);
    run([is_on](Core& core) { core.set_reading(is_on); });
  }
  void close() override {
    run([](Core& core) { core.close(); });
  }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return core_->transport_type();
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return core_->current_context();
  }

 protected:
  /// Runs the task later, on the event loop's thread, in the order of the calls.
  template <typename Task>
  void run(Task task) {
    loop_.post([core = core_, task = std::move(task)]() mutable { task(*core); });
  }

 private:
  link::EventLoop& loop_;
  const std::shared_ptr<Core> core_;
};

}  // namespace league::transport::client
