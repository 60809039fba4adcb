#include "league_manager/standby/journal_packer.h"

#include <gtest/gtest.h>

#include <string>

namespace league::league_manager::standby {
namespace {

journal::EventRecord sized(std::size_t bytes) { return {"R", std::string(bytes - 1, 'x')}; }

TEST(JournalPacker, WaitsUntilItIsWorthIt) {
  JournalPacker packer(100);
  for (std::uint64_t i = 1; i <= 9; ++i) packer.add(i, sized(10), true);
  EXPECT_FALSE(packer.next(3));
  packer.add(10, sized(10), true);
  auto piece = packer.next(3);
  ASSERT_TRUE(piece);
  EXPECT_TRUE(piece->is_packed);
  EXPECT_EQ(piece->term, 3);
  EXPECT_EQ(piece->first_sequence, 1U);
  EXPECT_EQ(piece->records.size(), 10U);
  EXPECT_EQ(packer.next(3), piece) << "the same until it is stored";
  EXPECT_EQ(packer.on_stored(*piece, 77), 77U) << "what is before it can go";
  EXPECT_FALSE(packer.next(3));
}

TEST(JournalPacker, PacksNoHalfGroups) {
  JournalPacker packer(100);
  packer.add(41, sized(150), false);
  EXPECT_FALSE(packer.next(1));
  packer.add(42, sized(10), true);
  EXPECT_TRUE(packer.next(1));
}

TEST(JournalPacker, ThrowsNothingAwayBeforeAllOfItIsPacked) {
  JournalPacker packer(100);
  packer.add(41, sized(60), true);
  packer.add(42, sized(250), true);
  packer.add(43, sized(60), true);
  auto first = packer.next(1);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->records.size(), 1U);
  EXPECT_EQ(packer.on_stored(*first, 500), 0U);
  auto second = packer.next(1);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->first_sequence, 42U);
  EXPECT_EQ(second->records.size(), 1U) << "larger than a piece should be, and yet one";
  EXPECT_EQ(packer.on_stored(*second, 501), 0U);
  auto third = packer.next(1);
  ASSERT_TRUE(third) << "too little by itself, but the others wait for it";
  EXPECT_EQ(packer.on_stored(*third, 502), 500U);
  packer.add(44, sized(60), true);
  EXPECT_FALSE(packer.next(1)) << "it begins anew";
}

}  // namespace
}  // namespace league::league_manager::standby
