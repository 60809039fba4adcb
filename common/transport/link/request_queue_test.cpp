#include "common/transport/link/request_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace league::transport::link::request_queue_tests {
namespace {

TEST(RequestQueue, KnownSendersGoFirstAndStrangersAreNotLockedOut) {
  RequestQueue<std::string> queue;
  for (int i = 0; i < 3; ++i) queue.push("s", "s", false);
  for (int i = 0; i < 12; ++i) queue.push("k", "k", true);
  EXPECT_EQ(queue.size(), 15U);
  EXPECT_EQ(queue.strangers(), 3U);
  std::string order;
  while (auto item = queue.pop()) order += *item;
  EXPECT_EQ(order, "kkkkkkkskkkkkss");
}

TEST(RequestQueue, ATurnWithoutAStrangerIsNotLost) {
  RequestQueue<std::string> queue;
  for (int i = 0; i < 9; ++i) queue.push("k", "k", true);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(queue.pop());
  EXPECT_FALSE(queue.pop());
}

}  // namespace
}  // namespace league::transport::link::request_queue_tests
