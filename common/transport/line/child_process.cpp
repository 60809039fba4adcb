#include "common/transport/line/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "common/transport/line/spawn.h"

namespace league::transport::line {
namespace {

constexpr std::size_t kLongestErrorLine = 4096;
constexpr std::chrono::milliseconds kLookInterval{20};

std::string how_it_ended(int status) {
  if (!WIFSIGNALED(status)) return "ended with exit code " + std::to_string(WEXITSTATUS(status));
  int signal = WTERMSIG(status);
  return "was killed by signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

}  // namespace

void ErrorLines::append(std::string_view bytes, const std::function<void(std::string_view)>& sink) {
  while (!bytes.empty()) {
    auto end = bytes.find('\n');
    auto part = bytes.substr(0, end);
    line_.append(part.substr(0, kLongestErrorLine - std::min(kLongestErrorLine, line_.size())));
    if (end == std::string_view::npos) return;
    bytes.remove_prefix(end + 1);
    finish(sink);
  }
}

void ErrorLines::finish(const std::function<void(std::string_view)>& sink) {
  std::string_view line(line_);
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (!line.empty() && sink) sink(line);
  line_.clear();
}

ChildProcess::ChildProcess(link::EventLoop& loop, std::string command,
                           const SubprocessOptions& options)
    : command_(std::move(command)),
      options_(options),
      end_(loop.context()),
      errors_(loop.context()),
      output_(loop.context()),
      end_timer_(loop.context()),
      ladder_(loop.context()) {}

core::Result<std::shared_ptr<ChildProcess>> ChildProcess::start(link::EventLoop& loop,
                                                                const std::string& command,
                                                                const SubprocessOptions& options,
                                                                Streams& streams) {
  auto spawned = spawn_command(command);
  if (!spawned) return spawned.error();
  std::shared_ptr<ChildProcess> child(new ChildProcess(loop, command, options));
  child->pid_ = spawned->pid;
  boost::system::error_code ignored;
#ifdef SYS_pidfd_open
  int end = static_cast<int>(::syscall(SYS_pidfd_open, spawned->pid, 0));
  if (end >= 0) child->end_.assign(end, ignored);
#endif
  ::fcntl(spawned->error.get(), F_SETFL, O_NONBLOCK);
  ::fcntl(spawned->output.get(), F_SETFL, O_NONBLOCK);
  child->errors_.assign(spawned->error.release(), ignored);
  int output = ::fcntl(spawned->output.get(), F_DUPFD_CLOEXEC, 3);
  if (output >= 0) child->output_.assign(output, ignored);
  streams = {std::move(spawned->input), std::move(spawned->output)};
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || is_reaped_) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::watch(std::function<void()> on_end) {
  on_end_ = std::move(on_end);
  wait_for_end();
  read_errors();
}

void ChildProcess::wait_for_end() {
  auto look = [self = shared_from_this()](const boost::system::error_code& fault) {
    if (!fault) self->look_for_end();
  };
  if (end_.is_open()) {
    end_.async_wait(Descriptor::wait_read, std::move(look));
  } else {
    end_timer_.expires_after(kLookInterval);
    end_timer_.async_wait(std::move(look));
  }
}

void ChildProcess::look_for_end() {
  siginfo_t info{};
  int found = ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (found == 0 && info.si_pid == 0) return wait_for_end();
  // Until the child is reaped, its process id cannot be reused, so this reaches only its own group.
  if (found == 0) ::kill(-pid_, SIGKILL);
  int status = 0;
  bool is_known = ::waitpid(pid_, &status, 0) == pid_;
  is_reaped_ = true;
  end_text_ = "the command \"" + command_ + "\" " +
              (is_known ? how_it_ended(status) : "ended for an unknown reason");
  ladder_.cancel();
  boost::system::error_code ignored;
  end_.close(ignored);
  output_.close(ignored);
  if (auto function = std::exchange(on_end_, nullptr)) function();
}

void ChildProcess::report(std::string_view line) const {
  if (options_.on_stderr) options_.on_stderr(command_, line);
}

void ChildProcess::read_errors() {
  errors_.async_wait(
      Descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& fault) {
        if (fault) return;
        auto sink = [&](std::string_view line) { self->report(line); };
        std::array<char, 8192> chunk;  // NOLINT: filled by read
        ssize_t size = ::read(self->errors_.native_handle(), chunk.data(), chunk.size());
        if (size > 0) self->lines_.append({chunk.data(), static_cast<std::size_t>(size)}, sink);
        if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) {
          return self->read_errors();
        }
        self->lines_.finish(sink);
        boost::system::error_code ignored;
        self->errors_.close(ignored);
      });
}

/// Reads and discards the output, so that a child that still writes while it ends is not killed by
/// SIGPIPE.
void ChildProcess::drain_output() {
  output_.async_wait(
      Descriptor::wait_read, [self = shared_from_this()](const boost::system::error_code& fault) {
        if (fault) return;
        std::array<char, 8192> chunk;  // NOLINT: filled by read
        ssize_t size = ::read(self->output_.native_handle(), chunk.data(), chunk.size());
        if (size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR))) self->drain_output();
      });
}

void ChildProcess::begin_ladder() {
  if (is_reaped_ || std::exchange(is_ladder_begun_, true)) return;
  if (output_.is_open()) drain_output();
  next_step(SIGTERM);
}

void ChildProcess::next_step(int signal) {
  ladder_.expires_after(options_.patience);
  ladder_.async_wait([self = shared_from_this(), signal](const boost::system::error_code& fault) {
    if (fault || self->is_reaped_) return;
    ::kill(-self->pid_, signal);
    if (signal != SIGKILL) self->next_step(SIGKILL);
  });
}

}  // namespace league::transport::line
