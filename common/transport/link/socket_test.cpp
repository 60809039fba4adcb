#include "common/transport/link/socket.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace league::transport::link {
namespace {

TEST(ReservedName, HasOneHolderAtATime) {
  const std::string name = "league-test-" + std::to_string(::getpid());
  auto held = reserve_name(name);
  ASSERT_TRUE(held && held->is_open());
  EXPECT_FALSE(reserve_name(name)) << "somebody holds it";
  auto other = reserve_name(name + "0");
  EXPECT_TRUE(other && other->is_open());
  held->close();
  held = reserve_name(name);
  EXPECT_TRUE(held && held->is_open());
  auto too_long = reserve_name(std::string(101, 'x'));
  ASSERT_TRUE(too_long) << "nobody holds it";
  EXPECT_FALSE(too_long->is_open());
}

}  // namespace
}  // namespace league::transport::link
