#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/core/result.h"
#include "tools/league/up/process.h"

namespace league::tools::bench {

/// Processor time that a process has used.
struct CpuTime {
  double user_seconds = 0;
  double system_seconds = 0;

  [[nodiscard]] double total() const { return user_seconds + system_seconds; }
};

/// How often the threads of a process have given up a processor.
struct ThreadSwitches {
  std::uint64_t voluntary = 0;  ///< to wait for something
  std::uint64_t involuntary = 0;  ///< because the system wanted it for another thread
};

/// One program that the benchmark has started: lines to its stdin, lines from its stdout, its
/// stderr in a file. The destructor ends the program with SIGINT, or with SIGKILL if it does not
/// end in time. Not thread-safe.
class BenchChild {
 public:
  /// Fails with kInternalError and the name of the program if it cannot be started.
  [[nodiscard]] static core::Result<BenchChild> start(const std::filesystem::path& program,
                                                      const std::vector<std::string>& arguments,
                                                      const std::filesystem::path& error_file);
  BenchChild(BenchChild&&) noexcept = default;
  BenchChild& operator=(BenchChild&&) = delete;
  ~BenchChild();

  /// The next line of its stdout. kConnectionError: it has ended; kTimeout: it wrote nothing in
  /// time.
  [[nodiscard]] core::Result<std::string> read_line(std::chrono::milliseconds patience);
  void write_line(const std::string& line) const { child_->write_line(line); }
  [[nodiscard]] CpuTime cpu() const;
  /// Of the threads that it has now.
  [[nodiscard]] ThreadSwitches switches() const;
  /// Its peak resident memory in bytes.
  [[nodiscard]] long peak_memory() const;
  [[nodiscard]] pid_t pid() const { return child_->pid(); }

 private:
  BenchChild(std::string name, ChildProcess child)
      : name_(std::move(name)), child_(std::make_unique<ChildProcess>(std::move(child))) {}

  std::string name_;
  std::unique_ptr<ChildProcess> child_;  ///< null once it was moved away
  std::deque<std::string> lines_;  ///< received lines that were not read yet
};

}  // namespace league::tools::bench
