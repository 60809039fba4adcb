#include "common/transport/link/signals.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <thread>

namespace league::transport::link {
namespace {

TEST(StopSignal, ReportsSignalsAndRequests) {
  StopSignal stop;
  EXPECT_EQ(stop.wait_for(std::chrono::milliseconds(0)), -1);
  ::pthread_kill(::pthread_self(), SIGTERM);
  EXPECT_EQ(stop.wait(), SIGTERM);
  ::pthread_kill(::pthread_self(), SIGINT);
  EXPECT_EQ(stop.wait(), SIGINT);
  std::jthread other([&] { stop.request_stop(); });
  EXPECT_EQ(stop.wait(), 0);
}

TEST(HangUpSignal, IsTakenOnce) {
  HangUpSignal signal;
  EXPECT_FALSE(signal.take());
  ::pthread_kill(::pthread_self(), SIGHUP);
  EXPECT_TRUE(signal.take());
  EXPECT_FALSE(signal.take());
}

}  // namespace
}  // namespace league::transport::link
