#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/core/result.h"
#include "common/transport/link/socket.h"

namespace league::tools {

/// Processor time that a process has used.
struct CpuTime {
  double user_seconds = 0;
  double system_seconds = 0;

  [[nodiscard]] double total() const { return user_seconds + system_seconds; }
};

/// One program that the benchmark has started: lines to its stdin, lines from its stdout, its
/// stderr in a file. Ends with SIGINT, and with SIGKILL if that does not help. Not thread-safe.
class BenchChild {
 public:
  /// Fails with kInternalError and the name of the program if it cannot be started.
  [[nodiscard]] static core::Result<BenchChild> start(const std::filesystem::path& program,
                                                      const std::vector<std::string>& arguments,
                                                      const std::filesystem::path& error_file);
  BenchChild(BenchChild&& other) noexcept;
  BenchChild& operator=(BenchChild&&) = delete;
  ~BenchChild();

  /// The next line of its stdout; an error if it ended or said nothing in time.
  [[nodiscard]] core::Result<std::string> read_line(std::chrono::milliseconds patience);
  void write_line(const std::string& line);
  /// Waits for so long; true if the program has ended by itself.
  [[nodiscard]] bool has_ended_within(std::chrono::milliseconds patience);
  [[nodiscard]] CpuTime cpu() const;
  /// The most memory that it has had resident, in bytes.
  [[nodiscard]] long peak_memory() const;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  BenchChild(std::string name, pid_t pid, transport::FileDescriptor in,
             transport::FileDescriptor out);
  /// False at the end of its output or when nothing came in time.
  bool fill(std::chrono::milliseconds patience);

  std::string name_;
  pid_t pid_;
  transport::FileDescriptor in_;
  transport::FileDescriptor out_;
  std::string text_;
  bool has_closed_ = false;
};

}  // namespace league::tools
