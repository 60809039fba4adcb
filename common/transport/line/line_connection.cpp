#include "common/transport/line/line_connection.h"

#include <csignal>
#include <mutex>
#include <utility>

#include "common/transport/line/line_core.h"

namespace league::transport {
namespace {

/// Otherwise writing to a pipe without a reader would kill the process; we check each write's
/// result.
void ignore_broken_pipes() {
  static std::once_flag once;
  std::call_once(once, [] { std::signal(SIGPIPE, SIG_IGN); });
}

}  // namespace

LineConnection::LineConnection(std::shared_ptr<LineCore> core) : core_(std::move(core)) {}

std::shared_ptr<LineConnection> LineConnection::create(EventLoop& loop, LineStreams streams,
                                                       const LineLimits& limits) {
  ignore_broken_pipes();
  return std::shared_ptr<LineConnection>(
      new LineConnection(std::make_shared<LineCore>(loop, std::move(streams), limits)));
}

LineConnection::~LineConnection() {
  core_->abort({core::ErrorCode::kShuttingDown, "the connection was let go", {}});
}

void LineConnection::start(std::shared_ptr<MessageReceiver> receiver) {
  core_->start(std::move(receiver));
}
void LineConnection::send(OutboundMessage message) { core_->send(std::move(message)); }
void LineConnection::set_reading(bool is_on) { core_->set_reading(is_on); }
void LineConnection::close() { core_->close(); }
void LineConnection::abort(const core::Error& why) { core_->abort(why); }
void LineConnection::abort_after_input(const core::Error& why) { core_->abort_after_input(why); }
void LineConnection::on_input_closed(std::function<void()> function) {
  core_->set_input_closed(std::move(function));
}
rpc::TransportType LineConnection::transport_type() const { return core_->context().type; }
rpc::TransportContext LineConnection::current_context() const { return core_->context(); }

}  // namespace league::transport
