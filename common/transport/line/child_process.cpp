#include "common/transport/line/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
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

/// Reads once, without waiting; false if nothing can come any more.
template <typename Sink>
bool read_some(boost::asio::posix::stream_descriptor& from, const Sink& sink) {
  std::array<char, 8192> chunk;  // NOLINT: filled by read
  const ssize_t size = ::read(from.native_handle(), chunk.data(), chunk.size());
  if (size > 0) sink(std::string_view(chunk.data(), static_cast<std::size_t>(size)));
  return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
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
    : context_(loop.context()),
      command_(std::move(command)),
      options_(options),
      end_(context_),
      errors_(context_),
      output_(context_),
      ended_(context_, core::Clock::Steady::max()) {}

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
  child->run(child->watch());
  child->run(child->read_errors());
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0 || end_text_) return;
  ::kill(-pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ChildProcess::run(link::Task<void> task) {
  boost::asio::co_spawn(context_, std::move(task),
                        [self = shared_from_this()](const std::exception_ptr& /*fault*/) {});
}

link::Task<void> ChildProcess::watch() {
  boost::asio::steady_timer pause(context_);
  do {
    if (end_.is_open()) {
      co_await end_.async_wait(Descriptor::wait_read, boost::asio::use_awaitable);
    } else {
      pause.expires_after(kLookInterval);
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
  } while (is_running());
  reap();
  ended_.cancel();
  boost::system::error_code ignored;
  end_.close(ignored);
  output_.close(ignored);
  if (auto function = std::exchange(on_end_, nullptr)) function();
}

bool ChildProcess::is_running() const {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

void ChildProcess::reap() {
  // Until the child is reaped, its process id cannot be reused, so this reaches only its own group.
  ::kill(-pid_, SIGKILL);
  int status = 0;
  const bool is_known = ::waitpid(pid_, &status, 0) == pid_;
  end_text_ = "the command \"" + command_ + "\" " +
              (is_known ? how_it_ended(status) : "ended for an unknown reason");
}

link::Task<void> ChildProcess::wait_for_end(core::Clock::Steady deadline) {
  link::Alarm late(context_, [this] { ended_.cancel(); });  // wakes all who wait; they look again
  if (deadline != core::Clock::Steady::max()) late.set(deadline);
  boost::system::error_code woken;
  while (!end_text_ && std::chrono::steady_clock::now() < deadline)
    co_await ended_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, woken));
}

link::Task<void> ChildProcess::read_errors() {
  const auto sink = [this](std::string_view line) {
    if (options_.on_stderr) options_.on_stderr(command_, line);
  };
  while (read_some(errors_, [&](std::string_view bytes) { lines_.append(bytes, sink); }))
    co_await errors_.async_wait(Descriptor::wait_read, boost::asio::use_awaitable);
  lines_.finish(sink);
  errors_.close();
}

/// Reads and discards the output, so that a child that still writes while it ends is not killed by
/// SIGPIPE.
link::Task<void> ChildProcess::drain_output() {
  while (read_some(output_, [](std::string_view) {}))
    co_await output_.async_wait(Descriptor::wait_read, boost::asio::use_awaitable);
}

void ChildProcess::begin_ladder() {
  if (end_text_ || std::exchange(is_ladder_begun_, true)) return;
  if (output_.is_open()) run(drain_output());
  run(climb_ladder());
}

link::Task<void> ChildProcess::climb_ladder() {
  co_await wait_for_end(std::chrono::steady_clock::now() + options_.patience);
  if (end_text_) co_return;
  ::kill(-pid_, SIGTERM);
  co_await wait_for_end(std::chrono::steady_clock::now() + options_.patience);
  if (!end_text_) ::kill(-pid_, SIGKILL);
}

}  // namespace league::transport::line
