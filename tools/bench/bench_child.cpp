#include "tools/bench/bench_child.h"

#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

namespace league::tools::bench {
namespace {

constexpr std::chrono::milliseconds kStopPatience{10'000};

/// The time that is left until `until`.
std::chrono::milliseconds left_until(std::chrono::steady_clock::time_point until) {
  return std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
}

/// The number after `key` in a `status` file of the system; 0 if the process or thread has ended.
std::uint64_t status_value(const std::filesystem::path& file, std::string_view key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size()));
  }
  return 0;
}

}  // namespace

core::Result<BenchChild> BenchChild::start(const std::filesystem::path& program,
                                           const std::vector<std::string>& arguments,
                                           const std::filesystem::path& error_file) {
  auto child = ChildProcess::start(
      {.program = program, .arguments = arguments, .stderr_file = error_file, .takes_input = true});
  if (!child) {
    auto error = child.error();
    error.message += "; it must be in the same directory as this program";
    return error;
  }
  return BenchChild(program.filename().string(), std::move(*child));
}

BenchChild::~BenchChild() {
  if (!child_) return;
  child_->signal(SIGINT);
  child_->close_input();
  const auto until = std::chrono::steady_clock::now() + kStopPatience;
  while (!child_->poll_end() && left_until(until).count() > 0) {
    (void)child_->wait_for_output(left_until(until));
    (void)child_->read_lines();
  }
}  // the child is killed if it still lives

core::Result<std::string> BenchChild::read_line(std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (lines_.empty()) {
    const bool has_ended = child_->poll_end().has_value();
    for (auto& line : child_->read_lines()) lines_.push_back(std::move(line));
    if (!lines_.empty()) break;
    const auto left = left_until(until);
    if (has_ended || left.count() <= 0 || !child_->wait_for_output(left)) {
      return core::Error{has_ended ? core::ErrorCode::kConnectionError : core::ErrorCode::kTimeout,
                         name_ + (has_ended ? " has ended" : " did not become ready in time") +
                             "; its messages are in the .err file of the run (--keep)",
                         {}};
    }
  }
  std::string line = std::move(lines_.front());
  lines_.pop_front();
  return line;
}

CpuTime BenchChild::cpu() const {
  std::ifstream file("/proc/" + std::to_string(pid()) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return {user / ticks, system / ticks};
}

ThreadSwitches BenchChild::switches() const {
  ThreadSwitches sum;
  std::error_code gone;
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid()) + "/task",
                                                    gone);
  for (const auto& thread : threads) {
    const auto status = thread.path() / "status";
    sum.voluntary += status_value(status, "voluntary_ctxt_switches:");
    sum.involuntary += status_value(status, "nonvoluntary_ctxt_switches:");
  }
  return sum;
}

long BenchChild::peak_memory() const {
  return static_cast<long>(status_value("/proc/" + std::to_string(pid()) + "/status", "VmHWM:")) *
         1024;
}

}  // namespace league::tools::bench
