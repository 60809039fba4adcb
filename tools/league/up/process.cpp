#include "tools/league/up/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include "common/transport/line/spawn.h"

namespace league::tools {
namespace {

core::Error process_error(const std::filesystem::path& program, const std::string& why) {
  return {core::ErrorCode::kInternalError, "cannot start " + program.string() + ": " + why, {}};
}

/// Data for the child, prepared before the fork, since nothing may allocate between fork and exec.
struct ChildSetup {
  pid_t parent = 0;
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  int in = -1;
  int out = -1;
  int error = -1;
  int failure = -1;  ///< takes errno if exec fails
};

[[noreturn]] void become(const ChildSetup& setup) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != setup.parent) ::_exit(127);  // the parent died before prctl took effect
  ::dup2(setup.in, STDIN_FILENO);
  ::dup2(setup.out, STDOUT_FILENO);
  ::dup2(setup.error, STDERR_FILENO);
  ::signal(SIGPIPE, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(setup.program, setup.arguments, setup.environment);
  int reason = errno;
  [[maybe_unused]] ssize_t written = ::write(setup.failure, &reason, sizeof reason);
  ::_exit(127);
}

std::vector<std::string> environment_with(const std::vector<std::string>& defaults) {
  std::vector<std::string> all;
  for (char** variable = ::environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  for (const auto& one : defaults) {
    const auto name = one.substr(0, one.find('=') + 1);
    if (std::ranges::none_of(all, [&](const auto& set) { return set.starts_with(name); }))
      all.push_back(one);
  }
  return all;
}

struct Pipe {
  core::FileDescriptor read;
  core::FileDescriptor write;
};

std::optional<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{core::FileDescriptor(ends[0]), core::FileDescriptor(ends[1])};
}

}  // namespace

std::string ProcessEnd::text() const {
  if (signal == 0) return "with exit code " + std::to_string(exit_code);
  return "by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

core::Result<ChildProcess> ChildProcess::start(const ProcessOptions& options) {
  auto in = options.takes_input
                ? make_pipe()
                : std::optional(
                      Pipe{core::FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)), {}});
  auto out = make_pipe();
  auto failure = make_pipe();
  core::FileDescriptor error(
      ::open(options.stderr_file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!in || !out || !failure) return process_error(options.program, std::strerror(errno));
  if (!error.is_open())
    return process_error(options.program,
                         options.stderr_file.string() + ": " + std::strerror(errno));
  std::string name = options.program.string();
  std::vector<std::string> texts{name};
  texts.insert(texts.end(), options.arguments.begin(), options.arguments.end());
  auto arguments = transport::line::exec_pointers(texts);
  auto variables = environment_with(options.environment_defaults);
  auto environment = transport::line::exec_pointers(variables);
  ChildSetup setup{.parent = ::getpid(),
                   .program = name.c_str(),
                   .arguments = arguments.data(),
                   .environment = environment.data(),
                   .in = in->read.get(),
                   .out = out->write.get(),
                   .error = error.get(),
                   .failure = failure->write.get()};
  pid_t pid = ::fork();
  if (pid < 0) return process_error(options.program, std::strerror(errno));
  if (pid == 0) become(setup);
  failure->write.close();
  int reason = 0;
  if (::read(failure->read.get(), &reason, sizeof reason) == sizeof reason) {
    ::waitpid(pid, nullptr, 0);
    return process_error(options.program, std::strerror(reason));
  }
  ::fcntl(out->read.get(), F_SETFL, O_NONBLOCK);
  return ChildProcess(pid, std::move(in->write), std::move(out->read));
}

ChildProcess::ChildProcess(ChildProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      end_(other.end_),
      in_(std::move(other.in_)),
      out_(std::move(other.out_)),
      partial_(std::move(other.partial_)) {}

ChildProcess& ChildProcess::operator=(ChildProcess&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(end_, other.end_);
  std::swap(in_, other.in_);
  std::swap(out_, other.out_);
  std::swap(partial_, other.partial_);
  return *this;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || end_) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::vector<std::string> ChildProcess::read_lines() {
  std::array<char, 4096> buffer{};
  for (;;) {
    ssize_t size = ::read(out_.get(), buffer.data(), buffer.size());
    if (size <= 0) break;
    partial_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end; (end = partial_.find('\n', begin)) != std::string::npos; begin = end + 1)
    lines.push_back(partial_.substr(begin, end - begin));
  partial_.erase(0, begin);
  return lines;
}

bool ChildProcess::wait_for_output(std::chrono::milliseconds patience) const {
  pollfd ready{out_.get(), POLLIN, 0};
  return ::poll(&ready, 1, static_cast<int>(patience.count())) > 0;
}

void ChildProcess::write_line(const std::string& line) const {
  const std::string text = line + '\n';
  [[maybe_unused]] ssize_t written = ::write(in_.get(), text.data(), text.size());
}

std::optional<ProcessEnd> ChildProcess::poll_end() {
  if (end_ || pid_ < 0) return end_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  end_ = WIFSIGNALED(status)
             ? ProcessEnd{.exit_code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)}
             : ProcessEnd{.exit_code = WEXITSTATUS(status), .signal = 0};
  return end_;
}

void ChildProcess::signal(int number) {
  if (pid_ > 0 && !poll_end()) ::kill(pid_, number);
}

std::string tail_of(const std::filesystem::path& file, std::size_t lines, std::uintmax_t from) {
  std::ifstream in(file);
  in.seekg(static_cast<std::streamoff>(from));
  std::deque<std::string> last;
  for (std::string line; std::getline(in, line);) {
    last.push_back(std::move(line));
    if (last.size() > lines) last.pop_front();
  }
  std::string text;
  for (const auto& line : last) text.append(line).append("\n");
  return text;
}

}  // namespace league::tools
