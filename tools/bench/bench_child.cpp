#include "tools/bench/bench_child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <sstream>

namespace league::tools {
namespace {

using core::Error;
using core::ErrorCode;
using transport::FileDescriptor;

constexpr std::chrono::milliseconds kStopPatience{10'000};

struct Pipe {
  FileDescriptor read_end;
  FileDescriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{-1, -1};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {FileDescriptor(ends[0]), FileDescriptor(ends[1])};
}

/// What a child inherits as its three streams.
class SpawnActions {
 public:
  SpawnActions(const Pipe& input, const Pipe& output, const std::string& error_file) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, input.read_end.get(), STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, output.write_end.get(), STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, error_file.c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0640);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

}  // namespace

core::Result<BenchChild> BenchChild::start(const std::filesystem::path& program,
                                           const std::vector<std::string>& arguments,
                                           const std::filesystem::path& error_file) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  SpawnActions actions(input, output, error_file.string());
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  int fault = ::posix_spawn(&pid, program.c_str(), actions.get(), nullptr, argv.data(), environ);
  if (fault != 0) {
    return Error{ErrorCode::kInternalError,
                 program.string() + " cannot be started: " + transport::system_error_text(fault) +
                     "; it is looked for beside this program",
                 {}};
  }
  return BenchChild(program.filename().string(), pid, std::move(input.write_end),
                    std::move(output.read_end));
}

BenchChild::BenchChild(std::string name, pid_t pid, FileDescriptor in, FileDescriptor out)
    : name_(std::move(name)), pid_(pid), in_(std::move(in)), out_(std::move(out)) {}

BenchChild::BenchChild(BenchChild&& other) noexcept
    : name_(std::move(other.name_)),
      pid_(std::exchange(other.pid_, -1)),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      text_(std::move(other.text_)),
      has_closed_(other.has_closed_) {}

BenchChild::~BenchChild() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGINT);
  in_.close();
  if (!has_ended_within(kStopPatience)) ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool BenchChild::fill(std::chrono::milliseconds patience) {
  pollfd ready{out_.get(), POLLIN, 0};
  if (::poll(&ready, 1, static_cast<int>(patience.count())) <= 0) return false;
  std::array<char, 4096> bytes{};
  ssize_t count = ::read(out_.get(), bytes.data(), bytes.size());
  has_closed_ = count == 0;
  if (count > 0) text_.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0;
}

core::Result<std::string> BenchChild::read_line(std::chrono::milliseconds patience) {
  auto until = std::chrono::steady_clock::now() + patience;
  std::size_t end = text_.find('\n');
  while (end == std::string::npos) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0 || !fill(left)) {
      return Error{ErrorCode::kTimeout,
                   name_ + (has_closed_ ? " has ended" : " did not become ready in time") +
                       "; its messages are in the .err file of the run (--keep)",
                   {}};
    }
    end = text_.find('\n');
  }
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

void BenchChild::write_line(const std::string& line) {
  std::string text = line + '\n';
  [[maybe_unused]] ssize_t written = ::write(in_.get(), text.data(), text.size());
}

bool BenchChild::has_ended_within(std::chrono::milliseconds patience) {
  auto until = std::chrono::steady_clock::now() + patience;
  while (!has_closed_) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    fill(left);
  }
  return true;
}

CpuTime BenchChild::cpu() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
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

long BenchChild::peak_memory() const {
  std::ifstream file("/proc/" + std::to_string(pid_) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stol(line.substr(6)) * 1024;
  }
  return 0;
}

}  // namespace league::tools
