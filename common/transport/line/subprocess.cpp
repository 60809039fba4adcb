#include "common/transport/line/subprocess.h"

#include <utility>

#include "common/transport/line/child_process.h"

namespace league::transport::line {
namespace {

/// How long the end of the child's output waits for the exit status, which explains it.
constexpr std::chrono::milliseconds kExplanation{100};

/// Wraps the receiver of the child's lines: the end of the connection starts the steps that end the
/// child; after a close by our side, the receiver is told only when the child has been reaped.
class ChildReceiver final : public link::MessageReceiver {
 public:
  ChildReceiver(std::shared_ptr<link::MessageReceiver> receiver, std::weak_ptr<ChildProcess> child)
      : receiver_(std::move(receiver)), child_(std::move(child)) {}

  void on_message(link::ReceivedMessage message) override {
    receiver_->on_message(std::move(message));
  }
  void on_oversized(const rpc::FramePeek& frame, const std::string& why) override {
    receiver_->on_oversized(frame, why);
  }
  void on_closed(const core::Error& why) override {
    auto child = child_.lock();
    if (child) child->begin_ladder();
    bool is_ours = why.code == core::ErrorCode::kShuttingDown;
    if (is_ours && child && !child->end_text()) {
      why_ = why;
      return;
    }
    tell(why);
  }
  void on_child_end(const std::string& how) {
    if (why_) tell({why_->code, how, {}});
  }

 private:
  void tell(const core::Error& why) {
    why_.reset();
    if (auto receiver = std::exchange(receiver_, nullptr)) receiver->on_closed(why);
  }

  std::shared_ptr<link::MessageReceiver> receiver_;
  const std::weak_ptr<ChildProcess> child_;  // weak, because the child holds this object
  std::optional<core::Error> why_;
};

class SubprocessConnection final : public link::MessageConnection {
 public:
  SubprocessConnection(link::EventLoop& loop, std::shared_ptr<ChildProcess> child,
                       std::shared_ptr<LineConnection> lines)
      : loop_(loop), child_(std::move(child)), lines_(std::move(lines)) {}
  ~SubprocessConnection() override {
    // If the connection was never started, nothing else ends the child.
    loop_.post([child = child_] { child->begin_ladder(); });
  }

  void start(std::shared_ptr<link::MessageReceiver> receiver) override {
    auto between = std::make_shared<ChildReceiver>(std::move(receiver), child_);
    auto timer = std::make_shared<boost::asio::steady_timer>(loop_.context());
    std::weak_ptr<LineConnection> lines = lines_;
    auto end = [lines, weak = std::weak_ptr<ChildProcess>(child_)] {
      auto held = lines.lock();
      auto child = weak.lock();
      if (!held || !child) return;
      held->abort(
          {core::ErrorCode::kConnectionError,
           child->end_text().value_or("the command \"" + child->command() + "\" closed its output"),
           {}});
    };
    lines_->on_input_closed([timer, end] {
      timer->expires_after(kExplanation);
      timer->async_wait([timer, end](const boost::system::error_code&) { end(); });
    });
    lines_->start(between);  // before the child is watched, so that its last output is not lost
    loop_.post([child = child_, between, end] {
      child->watch([between, end, weak = std::weak_ptr<ChildProcess>(child)] {
        end();
        if (auto ended = weak.lock()) between->on_child_end(*ended->end_text());
      });
    });
  }
  void send(link::OutboundMessage message) override { lines_->send(std::move(message)); }
  void set_reading(bool is_on) override { lines_->set_reading(is_on); }
  void close() override { lines_->close(); }
  [[nodiscard]] rpc::TransportType transport_type() const override {
    return lines_->transport_type();
  }
  [[nodiscard]] rpc::TransportContext current_context() const override {
    return lines_->current_context();
  }

 private:
  link::EventLoop& loop_;
  const std::shared_ptr<ChildProcess> child_;
  const std::shared_ptr<LineConnection> lines_;
};

}  // namespace

core::Result<std::shared_ptr<link::MessageConnection>> start_subprocess(
    link::EventLoop& loop, const std::string& command, const SubprocessOptions& options) {
  ChildProcess::Streams streams;
  auto child = ChildProcess::start(loop, command, options, streams);
  if (!child) return child.error();
  rpc::ConnectionInfo info;
  info.connection_id = "child-" + std::to_string((*child)->pid());
  auto context = rpc::TransportContext::subprocess((*child)->pid())
                     .with_connection(std::make_shared<const rpc::ConnectionInfo>(std::move(info)));
  auto lines =
      LineConnection::create(loop,
                             {std::move(streams.output), std::move(streams.input),
                              std::move(context), rpc::MessageDirection::kServerToClient, false},
                             options.limits);
  return std::shared_ptr<link::MessageConnection>(
      std::make_shared<SubprocessConnection>(loop, *std::move(child), std::move(lines)));
}

}  // namespace league::transport::line
