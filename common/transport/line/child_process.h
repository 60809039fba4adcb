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

/// A child process, its stderr, its end, and the steps that end it. After start() everything runs
/// on the event loop's thread; pending operations keep the object alive. The destructor kills a
/// running child.
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

  /// Begins to watch the child. `on_end` runs once, when it has been reaped.
  void watch(std::function<void()> on_end);
  /// The child's input is closed: after some time it gets SIGTERM, and after the same time SIGKILL.
  void begin_ladder();
  /// `the command "bot" ended with exit code 1`; nothing while it runs.
  [[nodiscard]] const std::optional<std::string>& end_text() const { return end_text_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& command() const { return command_; }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  ChildProcess(link::EventLoop& loop, std::string command, const SubprocessOptions& options);

  void wait_for_end();
  void look_for_end();
  void read_errors();
  void drain_output();
  void next_step(int signal);
  void report(std::string_view line) const;

  const std::string command_;
  const SubprocessOptions options_;
  pid_t pid_ = -1;
  bool is_reaped_ = false;
  std::optional<std::string> end_text_;
  std::function<void()> on_end_;
  Descriptor end_;  ///< readable once the child has ended; not open if the system lacks this
  Descriptor errors_;
  Descriptor output_;  ///< its stdout; read and discarded once the connection no longer reads it
  boost::asio::steady_timer end_timer_;
  boost::asio::steady_timer ladder_;
  bool is_ladder_begun_ = false;
  ErrorLines lines_;
};

}  // namespace league::transport::line
