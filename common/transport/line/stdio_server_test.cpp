#include "common/transport/line/stdio_server.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <future>

#include "tests/support/memory/peers_testing.h"

namespace league::transport::line {
namespace {

using league::testing::echo;
using league::testing::FunctionHandler;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    read = core::FileDescriptor(ends[0]);
    write = core::FileDescriptor(ends[1]);
  }
  core::FileDescriptor read;
  core::FileDescriptor write;
};

/// Puts pipes in the place of the program's standard streams for the time of a test.
class StdioServer : public ::testing::Test {
 protected:
  StdioServer() {
    std::fflush(stdout);
    for (int fd : {0, 1, 2}) kept_.emplace_back(::fcntl(fd, F_DUPFD_CLOEXEC, 3));
    ::dup2(in_.read.get(), STDIN_FILENO);
    ::dup2(out_.write.get(), STDOUT_FILENO);
    ::dup2(errors_.write.get(), STDERR_FILENO);
    served_ = *serve_stdio(*loop_, handler_, [this] { ended_.set_value(); });
    flags_ = {::fcntl(in_.read.get(), F_GETFL), ::fcntl(out_.write.get(), F_GETFL)};
    out_.write.close();  // or else the end of the output is never seen
  }
  ~StdioServer() override {
    std::fflush(stdout);
    for (int fd : {0, 1, 2}) ::dup2(kept_[static_cast<std::size_t>(fd)].get(), fd);
    served_->close();
    (void)has_ended();  // what a stopped event loop still holds is never let go of
    loop_->stop();
  }

  void say(std::string_view bytes) const {
    ASSERT_EQ(::write(in_.write.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }
  bool has_ended() { return end_.wait_for(std::chrono::seconds(10)) == std::future_status::ready; }
  /// What comes by `pipe` up to `count` bytes or its end; at most 10 s.
  static std::string hear(const Pipe& pipe, std::size_t count) {
    std::string heard;
    pollfd ready{pipe.read.get(), POLLIN, 0};
    while (heard.size() < count && ::poll(&ready, 1, 10'000) > 0) {
      std::array<char, 4096> part{};
      auto got = ::read(pipe.read.get(), part.data(), std::min(part.size(), count - heard.size()));
      if (got <= 0) break;
      heard.append(part.data(), static_cast<std::size_t>(got));
    }
    return heard;
  }

  Pipe in_;
  Pipe out_;
  Pipe errors_;
  std::vector<core::FileDescriptor> kept_;
  std::array<int, 2> flags_{};
  std::promise<void> ended_;
  std::future<void> end_ = ended_.get_future();
  FunctionHandler handler_{echo};
  std::unique_ptr<link::EventLoop> loop_ = *link::EventLoop::start();
  std::shared_ptr<link::ServedConnection> served_;
};

TEST_F(StdioServer, AnswersAllBeforeTheEndOfTheInputEndsIt) {
  say("{\"id\":1}\n{\"id\":2}\r\n{\"id\":3}");
  in_.write.close();
  EXPECT_EQ(hear(out_, 1000), "{\"id\":1}\n{\"id\":2}\n{\"id\":3}\n");
  EXPECT_TRUE(has_ended());
  EXPECT_FALSE(served_->is_open());
}

TEST_F(StdioServer, WhatElseIsPrintedGoesToStderr) {
  std::printf("stray\n");
  std::fflush(stdout);
  EXPECT_EQ(hear(errors_, 6), "stray\n");
  say("{}\n");
  EXPECT_EQ(hear(out_, 3), "{}\n");
}

TEST_F(StdioServer, NobodyElseReadsOurMessages) {
  say("{\"id\":1}\n");
  EXPECT_EQ(hear(out_, 9), "{\"id\":1}\n");
  char byte = 0;
  EXPECT_EQ(::read(STDIN_FILENO, &byte, 1), 0);
}

TEST_F(StdioServer, StreamsThatAreSharedStayBlocking) {
  for (int flags : flags_) EXPECT_EQ(flags & O_NONBLOCK, 0);
}

TEST_F(StdioServer, EndsWhenNobodyReads) {
  out_.read.close();
  say("{}\n");
  EXPECT_TRUE(has_ended());
}

TEST_F(StdioServer, EndsWhenItIsToldTo) {
  say("{}\n");
  EXPECT_EQ(hear(out_, 3), "{}\n");
  served_->begin_stop();
  EXPECT_TRUE(has_ended());
  EXPECT_EQ(hear(out_, 1), "") << "its output ends";
}

}  // namespace
}  // namespace league::transport::line
