#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::tools {

/// A program to start.
struct ProcessOptions {
  std::filesystem::path program;
  std::vector<std::string> arguments;  ///< without the program's name
  std::filesystem::path stderr_file;  ///< is appended to
  /// `NAME=VALUE`, set if our environment lacks the name; the child inherits everything else.
  std::vector<std::string> environment_defaults = {};
  bool takes_input = false;  ///< false: its stdin is empty
};

/// How a process ended.
struct ProcessEnd {
  int exit_code = 0;
  int signal = 0;  ///< not 0: it was killed by this signal

  /// `with exit code 2`, `killed by signal 9 (Killed)`.
  [[nodiscard]] std::string text() const;
};

/// A child process in a process group of its own, whose stdout is read line by line. The system
/// sends it SIGKILL when the thread that started it ends, so that no programs of a league are left
/// behind; start children only from the main thread. The destructor kills and reaps. Not
/// thread-safe.
class ChildProcess {
 public:
  /// Fails with kInternalError if the program is missing or the system cannot create a process.
  [[nodiscard]] static core::Result<ChildProcess> start(const ProcessOptions& options);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();

  /// Lines that have arrived on its stdout since the last call. Never blocks.
  [[nodiscard]] std::vector<std::string> read_lines();
  /// Blocks until output has arrived or stdout was closed; false: not within `patience`.
  [[nodiscard]] bool wait_for_output(std::chrono::milliseconds patience) const;
  /// Writes a line to its stdin, if it takes input.
  void write_line(const std::string& line) const;
  /// Closes its stdin.
  void close_input() { in_.close(); }
  /// How it ended, once it has. Never blocks.
  [[nodiscard]] std::optional<ProcessEnd> poll_end();
  /// Sends a signal unless it has ended.
  void signal(int number);
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  ChildProcess(pid_t pid, core::FileDescriptor in, core::FileDescriptor out)
      : pid_(pid), in_(std::move(in)), out_(std::move(out)) {}

  pid_t pid_ = -1;
  std::optional<ProcessEnd> end_;
  core::FileDescriptor in_;  ///< not open if it takes no input
  core::FileDescriptor out_;
  std::string partial_;  // of a line
};

/// The last `lines` lines of the part of a text file that begins at byte `from`; empty if it cannot
/// be read.
[[nodiscard]] std::string tail_of(const std::filesystem::path& file, std::size_t lines,
                                  std::uintmax_t from = 0);

}  // namespace league::tools
