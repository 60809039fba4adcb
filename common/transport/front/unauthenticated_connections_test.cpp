#include "common/transport/front/unauthenticated_connections.h"

#include <gtest/gtest.h>

namespace league::transport::front::stranger_connections_tests {
namespace {

using Ids = std::vector<std::uint64_t>;

TEST(UnauthenticatedConnections, OffersTheOldestOfAnAddress) {
  UnauthenticatedConnections open;
  for (std::uint64_t id : Ids{16, 17, 18, 19}) open.add(id % 2 == 0 ? "a" : "b", id);
  open.add("a", 20);
  EXPECT_EQ(open.count("a"), 3U);
  EXPECT_EQ(open.oldest("a", 2), (Ids{16, 18}));
  EXPECT_EQ(open.oldest("c", 2), Ids{});
}

TEST(UnauthenticatedConnections, StreamsCountAndStay) {
  UnauthenticatedConnections open;
  open.add("a", 1);
  open.add("a", 2);
  open.keep("a", 1);
  open.keep("a", 7);  // never counted, as one that has shown a credential
  EXPECT_EQ(open.count("a"), 2U);
  EXPECT_EQ(open.waiting("a"), 1U);
  EXPECT_EQ(open.oldest("a", 9), Ids{2});
  open.remove("a", 1);
  open.remove("a", 2);
  open.remove("a", 2);
  EXPECT_EQ(open.count("a"), 0U);
}

}  // namespace
}  // namespace league::transport::front::stranger_connections_tests
