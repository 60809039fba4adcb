#include "player/core/seeded_random.h"

#include <gtest/gtest.h>

namespace league::player {
namespace {

TEST(SeededRandom, FirstOutputsAreThoseOfSplitMix64) {
  // The reference generator with seed 0 starts with e220a8397b1dcdaf, 6e789e6aa1b965f4.
  SeededRandom random(0);
  const auto bytes = random.bytes<16>();
  const std::array<std::uint8_t, 16> expected = {0xaf, 0xcd, 0x1d, 0x7b, 0x39, 0xa8, 0x20, 0xe2,
                                                 0xf4, 0x65, 0xb9, 0xa1, 0x6a, 0x9e, 0x78, 0x6e};
  EXPECT_EQ(bytes, expected);
}

TEST(SeededRandom, SeedsDiffer) {
  SeededRandom one(1);
  SeededRandom two(2);
  EXPECT_NE(one.bytes<8>(), two.bytes<8>());
}

}  // namespace
}  // namespace league::player
