#include "common/core/random_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/scripted_random.h"

namespace league::core {
namespace {

TEST(CryptoRandom, FillsEveryByteAndNeverTheSame) {
  CryptoRandom random;
  auto first = random.bytes<32>();
  auto second = random.bytes<32>();
  EXPECT_NE(first, second);
  // A byte that is never written stays zero in every draw: 2^-512 by chance.
  std::array<std::uint8_t, 8> seen{};
  for (int i = 0; i < 64; ++i) {
    auto draw = random.bytes<8>();
    for (std::size_t n = 0; n < draw.size(); ++n)
      seen[n] = static_cast<std::uint8_t>(seen[n] | draw[n]);
  }
  EXPECT_TRUE(std::ranges::none_of(seen, [](std::uint8_t byte) { return byte == 0; }));
}

TEST(CryptoRandom, FillsNothingWhenAskedForNothing) {
  CryptoRandom random;
  std::vector<std::uint8_t> empty;
  random.fill(empty);
  EXPECT_TRUE(empty.empty());
}

TEST(ScriptedRandom, RepeatsItselfFromItsSeed) {
  testing::ScriptedRandom a(7);
  testing::ScriptedRandom b(7);
  testing::ScriptedRandom c(8);
  auto drawn = a.bytes<16>();
  EXPECT_EQ(drawn, b.bytes<16>());
  EXPECT_NE(drawn, c.bytes<16>());
}

}  // namespace
}  // namespace league::core
