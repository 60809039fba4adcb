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

namespace league::transport {

/// Cuts what a child writes on stderr into lines of at most 4096 bytes; the rest of a longer one is
/// left out. Not thread-safe.
class ErrorLines {
 public:
  /// Calls `sink` with each line that is whole now.
  void append(std::string_view bytes, const std::function<void(std::string_view)>& sink);
  /// The last line, if it has no end.
  void finish(const std::function<void(std::string_view)>& sink);

 private:
  std::string line_;
};

/// A child, its stderr, its end and the ladder that leads there. After start() everything runs on
/// the event loop's thread; what is under way keeps it alive. The destructor kills a child that
/// lives.
class ChildProcess final : public std::enable_shared_from_this<ChildProcess> {
 public:
  /// The ends of the child's pipes that are ours.
  struct Streams {
    FileDescriptor input;  ///< to be written
    FileDescriptor output;
  };
  /// Starts it. Fails with kConnectionError.
  [[nodiscard]] static core::Result<std::shared_ptr<ChildProcess>> start(
      EventLoop& loop, const std::string& command, const SubprocessOptions& options,
      Streams& streams);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Begins to watch. `on_end` runs once, when it is reaped.
  void watch(std::function<void()> on_end);
  /// Its input is closed: it is given time, then SIGTERM, time again, SIGKILL.
  void begin_ladder();
  /// `the command "bot" ended with exit code 1`; nothing while it lives.
  [[nodiscard]] const std::optional<std::string>& end_text() const { return end_text_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] const std::string& command() const { return command_; }

 private:
  using Descriptor = boost::asio::posix::stream_descriptor;
  ChildProcess(EventLoop& loop, std::string command, const SubprocessOptions& options);

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
  Descriptor end_;  ///< readable when it has ended; not open where the system has no such thing
  Descriptor errors_;
  Descriptor output_;  ///< its stdout, read to nowhere once nobody else does
  boost::asio::steady_timer end_timer_;
  boost::asio::steady_timer ladder_;
  bool is_ladder_begun_ = false;
  ErrorLines lines_;
};

}  // namespace league::transport
