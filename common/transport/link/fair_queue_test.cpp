#include "common/transport/link/fair_queue.h"

#include <gtest/gtest.h>

#include <string>

namespace league::transport::link {
namespace {

TEST(FairQueue, PeersTakeTurns) {
  FairQueue<std::string> queue;
  for (std::string item : {"a1", "a2", "a3", "b1", "a4", "c1", "b2"})
    queue.push(item.substr(0, 1), item);
  std::string order;
  while (auto item = queue.pop()) order += *item + " ";
  EXPECT_EQ(order, "a1 b1 c1 a2 b2 a3 a4 ");
  EXPECT_EQ(queue.size(), 0U);
}

}  // namespace
}  // namespace league::transport::link
