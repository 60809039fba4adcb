#include "common/transport/line/spawn.h"

#include <fcntl.h>
#include <features.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>

#include "common/transport/link/command_line.h"

namespace league::transport::line {
namespace {

constexpr std::array<const char*, 9> kPassed{"PATH", "HOME", "LANG",  "LC_ALL", "TMPDIR",
                                             "TZ",   "USER", "SHELL", "TERM"};

struct PipeEnds {
  core::FileDescriptor read;
  core::FileDescriptor write;
  [[nodiscard]] bool is_open() const { return read.is_open() && write.is_open(); }
};

PipeEnds open_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  return {core::FileDescriptor(ends[0]), core::FileDescriptor(ends[1])};
}

std::vector<std::string> environment() {
  std::vector<std::string> out;
  for (const char* name : kPassed) {
    if (const char* value = ::getenv(name)) out.push_back(std::string(name) + "=" + value);
  }
  return out;
}

/// The actions in the child before the program runs.
class SpawnPlan {
 public:
  SpawnPlan(int in, int out, int error) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    ::posix_spawn_file_actions_adddup2(&actions_, error, STDERR_FILENO);
#if __GLIBC_PREREQ(2, 34)
    // Our own descriptors are all close-on-exec, but a library may have forgotten one.
    ::posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
#endif
    ::posix_spawnattr_init(&attributes_);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    sigset_t signals;
    ::sigfillset(&signals);
    ::posix_spawnattr_setsigdefault(&attributes_, &signals);
    ::sigemptyset(&signals);
    ::posix_spawnattr_setsigmask(&attributes_, &signals);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  /// errno, or 0.
  int run(pid_t& pid, std::vector<std::string>& words, std::vector<std::string>& variables) {
    auto arguments = exec_pointers(words);
    auto values = exec_pointers(variables);
    return ::posix_spawnp(&pid, words.front().c_str(), &actions_, &attributes_, arguments.data(),
                          values.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::vector<char*> exec_pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

core::Result<SpawnedChild> spawn_command(const std::string& command) {
  auto refuse = [&](const std::string& cause) {
    return core::Error{core::ErrorCode::kConnectionError,
                       "the command \"" + command + "\" cannot be started: " + cause,
                       {}};
  };
  auto words = link::split_command(command);
  if (!words) return words.error();
  auto in = open_pipe();
  auto out = open_pipe();
  auto error = open_pipe();
  if (!in.is_open() || !out.is_open() || !error.is_open())
    return refuse(link::system_error_text(errno));
  SpawnedChild child;
  auto variables = environment();
  SpawnPlan plan(in.read.get(), out.write.get(), error.write.get());
  int fault = plan.run(child.pid, *words, variables);
  if (fault != 0) return refuse(link::system_error_text(fault));
  child.input = std::move(in.write);
  child.output = std::move(out.read);
  child.error = std::move(error.read);
  return child;
}

}  // namespace league::transport::line
