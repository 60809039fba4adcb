#include "common/transport/line/subprocess.h"

#include <utility>

#include "common/transport/line/child_process.h"
#include "common/transport/line/line_wire.h"

namespace league::transport::line {
namespace {

/// How long the end of the child's output waits for the exit status, which explains it.
constexpr std::chrono::milliseconds kExplanation{100};

/// Lines to and from a child. Its exit status says more than the end of its output, so that is
/// waited for; after a close by our side, until the child has ended.
class ChildWire final : public connection::Wire {
 public:
  ChildWire(link::EventLoop& loop, std::shared_ptr<ChildProcess> child, LineStreams streams,
            const LineLimits& limits)
      : child_(std::move(child)), lines_(loop, std::move(streams), limits) {}

  link::Task<std::optional<connection::WireEnd>> open() override {
    if (child_->end_text()) lines_.end_input();
    child_->on_end([this] { lines_.end_input(); });
    co_return std::nullopt;
  }
  std::optional<connection::Incoming> read_now() override { return lines_.read_now(); }
  std::size_t write_now(std::span<const std::string_view> messages) override {
    return lines_.write_now(messages);
  }
  link::Task<connection::Incoming> read() override {
    auto incoming = co_await lines_.read();
    if (!std::holds_alternative<connection::InputEnd>(incoming)) co_return incoming;
    connection::WireEnd end;
    end.why = co_await explanation();
    co_return end;
  }
  link::Task<core::Result<std::size_t>> write(std::span<const std::string_view> messages) override {
    auto written = co_await lines_.write(messages);
    if (written || lines_.is_stalled()) co_return written;
    core::Error why = co_await explanation();
    co_return why;
  }
  link::Task<std::optional<core::Error>> close(std::uint16_t /*code*/) override {
    hang_up(true);
    co_await child_->wait_for_end();
    co_return core::Error{core::ErrorCode::kShuttingDown, *child_->end_text(), {}};
  }
  void hang_up(bool is_all_sent) override {
    child_->on_end(nullptr);
    lines_.hang_up(is_all_sent);
    child_->begin_ladder();
  }
  void set_reading(bool is_on) override { lines_.set_reading(is_on); }

 private:
  link::Task<core::Error> explanation() {
    co_await child_->wait_for_end(std::chrono::steady_clock::now() + kExplanation);
    co_return core::Error{
        core::ErrorCode::kConnectionError,
        child_->end_text().value_or("the command \"" + child_->command() + "\" closed its output"),
        {}};
  }

  const std::shared_ptr<ChildProcess> child_;
  LineWire lines_;
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
  auto line_limits = line_options(options.limits, context, rpc::MessageDirection::kServerToClient);
  auto wire = std::make_unique<ChildWire>(
      loop, *std::move(child),
      LineStreams{
          .in = std::move(streams.output), .out = std::move(streams.input), .context = context},
      options.limits);
  return std::shared_ptr<link::MessageConnection>(
      connection::WireConnection::create(loop, std::move(wire), std::move(line_limits)));
}

}  // namespace league::transport::line
