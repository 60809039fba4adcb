#include "tools/league/up/process.h"
#include "tests/support/temporary_directory.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

namespace league::tools {
namespace {

class ProcessTest : public ::testing::Test {
 protected:
  ChildProcess shell(const std::string& script) {
    auto child = ChildProcess::start(
        {.program = "/bin/sh", .arguments = {"-c", script}, .stderr_file = directory_ / "err"});
    EXPECT_TRUE(child) << child.error().message;
    return std::move(*child);
  }

  /// Waits for the end on the process's descriptor.
  static ProcessEnd end_of(ChildProcess& child) {
    int fd = static_cast<int>(::syscall(SYS_pidfd_open, child.pid(), 0));
    pollfd wanted{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&wanted, 1, 10'000), 1);
    ::close(fd);
    return child.poll_end().value_or(ProcessEnd{.exit_code = -1, .signal = 0});
  }

  const league::testing::TemporaryDirectory temporary_;
  std::filesystem::path directory_ = temporary_.path();
};

TEST_F(ProcessTest, ReadsLinesAndExitCode) {
  auto child = shell("echo one; echo two; printf half; echo trouble >&2; exit 3");
  EXPECT_EQ(end_of(child).exit_code, 3);
  EXPECT_EQ(child.read_lines(), (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(tail_of(directory_ / "err", 5), "trouble\n");
  EXPECT_EQ(child.poll_end()->text(), "with exit code 3");
}

TEST_F(ProcessTest, NamesTheSignal) {
  auto child = shell("kill -9 $$");
  EXPECT_EQ(end_of(child).text(), "by signal 9 (Killed)");
}

TEST_F(ProcessTest, SignalsReachAChildWhoseParentBlocksThem) {
  sigset_t wanted;
  sigset_t before;
  sigemptyset(&wanted);
  sigaddset(&wanted, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &wanted, &before);
  auto child = shell("exec cat /dev/zero >/dev/null");
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  child.signal(SIGTERM);
  EXPECT_EQ(end_of(child).signal, SIGTERM);
}

TEST_F(ProcessTest, HasItsOwnGroup) {
  auto child = shell("exec cat /dev/zero >/dev/null");
  EXPECT_EQ(::getpgid(child.pid()), child.pid());
}

TEST_F(ProcessTest, TheDestructorReaps) {
  pid_t pid = 0;
  {
    auto child = shell("exec cat /dev/zero >/dev/null");
    pid = child.pid();
  }
  EXPECT_EQ(::kill(pid, 0), -1);
}

TEST_F(ProcessTest, SaysWhichProgramIsMissing) {
  auto child = ChildProcess::start(
      {.program = directory_ / "nothing", .arguments = {}, .stderr_file = directory_ / "err"});
  ASSERT_FALSE(child);
  EXPECT_NE(child.error().message.find("nothing: No such file"), std::string::npos);
}

TEST_F(ProcessTest, TailIsTheEnd) {
  std::ofstream(directory_ / "file") << "1\n2\n3\n4\n";
  EXPECT_EQ(tail_of(directory_ / "file", 2), "3\n4\n");
  EXPECT_EQ(tail_of(directory_ / "missing", 2), "");
}

}  // namespace
}  // namespace league::tools
