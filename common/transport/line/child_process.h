#pragma once

#include <sys/types.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/transport/line/subprocess.h"
#include "common/transport/link/task.h"

namespace league::transport::line {

/// Splits what a child writes to stderr into lines of at most 4096 bytes; the rest of a longer line
/// is dropped. Not thread-safe.
class ErrorLines {
 public:
  /// Calls `sink` with each line that is now complete.
  void append(std::string_view bytes, const std::function<void(std::string_view)>& sink);
  /// Calls `sink` with the last line if it has no line end.
  void finish(const std::function<void(std::string_view)>& sink);

 private:
  std::string line_;
};

/// A child process, its stderr, its end, and the steps that end it. Its tasks run on the event
/// loop's thread and keep it; with the event loop they end, too, and the destructor kills a running
/// child. After start() it is used on that thread only.
class ChildProcess final : public std::enable_shared_from_this<ChildProcess> {
 public:
  /// Our ends of the child's pipes.
  struct Streams {
    core::FileDescriptor input;  ///< for writing
    core::FileDescriptor output;
  };
  /// Starts the child. Fails with kConnectionError.
  [[nodiscard]] static core::Result<std::shared_ptr<ChildProcess>> start(
      link::EventLoop& loop, const std::string& command, const SubprocessOptions& options,
      Streams& streams);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Waits until it has been reaped, or the deadline has passed.
  link::Task<void> wait_for_end(core::Clock::Steady deadline = core::Clock::Steady::max());
  /// Runs once, when the child has been reaped; empty: nothing.
  void on_end(std::function<void()> function) { on_end_ = std::move(function); }
  /// The child's input is closed: after some time it gets SIGTERM, and after the same time SIGKILL.
  void begin_ladder();
  /// `the command "bot" ended with exit code 1`; nothing while it runs.
  [[nodiscard]] const std::optional<std::string>& end_text() const { return end_text_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& command() const { return command_; }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  ChildProcess(link::EventLoop& loop, std::string command, const SubprocessOptions& options);

  void run(link::Task<void> task);
  link::Task<void> watch();
  link::Task<void> read_errors();
  link::Task<void> drain_output();
  link::Task<void> climb_ladder();
  [[nodiscard]] bool is_running() const;
  void reap();

  boost::asio::io_context& context_;
  const std::string command_;
  const SubprocessOptions options_;
  pid_t pid_ = -1;
  std::optional<std::string> end_text_;
  std::function<void()> on_end_;
  Descriptor end_;  ///< readable once the child has ended; not open if the system lacks this
  Descriptor errors_;
  Descriptor output_;  ///< its stdout; read and discarded once the connection no longer reads it
  boost::asio::steady_timer ended_;  ///< never expires; cancelled at the end
  bool is_ladder_begun_ = false;
  ErrorLines lines_;
};

}  // namespace league::transport::line
