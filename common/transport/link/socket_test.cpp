#include "common/transport/link/socket.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace league::transport::link {
namespace {

TEST(ReservedName, HasOneHolderAtATime) {
  const std::string name = "league-test-" + std::to_string(::getpid());
  auto held = reserve_name(name);
  ASSERT_TRUE(held.is_open());
  EXPECT_FALSE(reserve_name(name).is_open());
  EXPECT_TRUE(reserve_name(name + "0").is_open());
  held.close();
  EXPECT_TRUE(reserve_name(name).is_open());
  EXPECT_FALSE(reserve_name(std::string(101, 'x')).is_open());
}

}  // namespace
}  // namespace league::transport::link
