#include "game/draw.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace league::game {
namespace {

constexpr NumberRange kOneToTen{1, 10};
constexpr NumberRange kDie{1, 6};

const std::array<Choices, 4> kAllChoices = {
    {{{"even", "even"}}, {{"even", "odd"}}, {{"odd", "even"}}, {{"odd", "odd"}}}};

const std::string kNonceOfA = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const std::string kNonceOfB(64, 'f');

Seed seed_number(std::uint32_t n) { return core::sha256(std::to_string(n)); }

Seed seed_filled_with(std::uint8_t byte) {
  Seed seed;
  seed.fill(byte);
  return seed;
}

Seed ascending() {
  Seed seed;
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = static_cast<std::uint8_t>(i);
  return seed;
}

Bindings bound(bool by_a, bool by_b) {
  Bindings bindings;
  const PerSide<bool> has_committed{{by_a, by_b}};
  const PerSide<std::string> nonces{{kNonceOfA, kNonceOfB}};
  for (Side side : kBothSides) {
    if (!has_committed[side]) continue;
    bindings.commitments[side] = "committed";
    bindings.nonces[side] = nonces[side];
  }
  return bindings;
}

int number(const Seed& seed, std::string_view match, const Choices& choices,
           const Bindings& bindings = {}, const NumberRange& range = kOneToTen) {
  return draw_number({.seed = seed, .match_id = match, .choices = choices, .bindings = bindings},
                     range);
}

/// Pearson's statistic of counts that are expected to be equal.
template <std::size_t N>
double chi_square(const std::array<int, N>& counts) {
  double total = 0;
  for (int count : counts) total += count;
  const double expected = total / N;
  double sum = 0;
  for (int count : counts) sum += (count - expected) * (count - expected) / expected;
  return sum;
}

// All known numbers are from ten lines of Python with the standard library's hmac, independent of
// this implementation.

TEST(DrawVersion1, KnownDraws) {
  struct Vector {
    Seed seed;
    std::string match_id;
    std::array<int, 4> numbers;  // in the order of kAllChoices
  };
  const std::array<Vector, 6> vectors = {{
      {seed_filled_with(0x00), "R1M1", {3, 4, 1, 3}},
      {seed_filled_with(0x00), "R12M345", {9, 8, 10, 1}},  // even|odd: first byte 0xfd is rejected
      {ascending(), "R1M1", {10, 8, 2, 3}},
      {ascending(), "R12M345", {10, 1, 5, 2}},
      {seed_filled_with(0xff), "R1M1", {1, 10, 1, 3}},
      {seed_filled_with(0xff), "R12M345", {8, 4, 3, 9}},
  }};
  for (const Vector& vector : vectors) {
    for (std::size_t i = 0; i < kAllChoices.size(); ++i) {
      EXPECT_EQ(number(vector.seed, vector.match_id, kAllChoices[i]), vector.numbers[i])
          << vector.match_id << " " << i;
    }
  }
}

TEST(DrawVersion2, KnownDraws) {
  struct Vector {
    Seed seed;
    std::string match_id;
    // In the order of kAllChoices; bound by both, by A alone, by B alone.
    std::array<std::array<int, 3>, 4> numbers;
  };
  const std::array<Vector, 6> vectors = {{
      {seed_filled_with(0x00), "R1M1", {{{6, 4, 10}, {2, 8, 6}, {5, 10, 8}, {9, 1, 8}}}},
      {seed_filled_with(0x00), "R12M345", {{{6, 6, 6}, {5, 1, 1}, {10, 3, 9}, {7, 10, 5}}}},
      {ascending(), "R1M1", {{{8, 4, 1}, {7, 4, 2}, {6, 10, 10}, {4, 7, 6}}}},
      {ascending(), "R12M345", {{{7, 8, 8}, {3, 6, 4}, {1, 1, 10}, {8, 3, 10}}}},
      {seed_filled_with(0xff), "R1M1", {{{3, 9, 2}, {6, 1, 5}, {7, 4, 8}, {9, 9, 6}}}},
      {seed_filled_with(0xff), "R12M345", {{{1, 2, 8}, {8, 5, 6}, {3, 2, 2}, {5, 6, 7}}}},
  }};
  const std::array<Bindings, 3> bindings = {bound(true, true), bound(true, false),
                                            bound(false, true)};
  for (const Vector& vector : vectors) {
    for (std::size_t i = 0; i < kAllChoices.size(); ++i) {
      for (std::size_t j = 0; j < bindings.size(); ++j) {
        EXPECT_EQ(number(vector.seed, vector.match_id, kAllChoices[i], bindings[j]),
                  vector.numbers[i][j])
            << vector.match_id << " " << i << " " << j;
      }
    }
  }
}

TEST(Draw, ARejectedByteIsFollowedByTheNextOne) {
  // HMAC of "R1M1|even|odd|0" begins with ff ee: 255 is rejected, 238 gives 9.
  EXPECT_EQ(number(seed_number(17), "R1M1", {{"even", "odd"}}), 9);
  // HMAC of "R1M1|even|odd|NONCE_A|NONCE_B|0" begins with fb 43: 251 is rejected, 67 gives 8.
  EXPECT_EQ(number(seed_number(8), "R1M1", {{"even", "odd"}}, bound(true, true)), 8);
}

TEST(Draw, AnotherGameHasOtherNumbers) {
  const std::array<Choices, 4> all = {
      {{{"heads", "heads"}}, {{"heads", "tails"}}, {{"tails", "heads"}}, {{"tails", "tails"}}}};
  const std::array<int, 4> numbers = {6, 5, 1, 4};
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(number(Seed{}, "R1M1", all[i], {}, kDie), numbers[i]);
  }
}

TEST(Draw, ANonceWithoutACountingCommitmentDoesNotEnter) {
  Bindings none;
  none.nonces = {{kNonceOfA, kNonceOfB}};
  EXPECT_EQ(draw_version(none), 1);
  Bindings only_a = bound(true, false);
  only_a.nonces[Side::kB] = kNonceOfB;
  EXPECT_EQ(draw_version(only_a), 2);
  for (const Choices& choices : kAllChoices) {
    EXPECT_EQ(number(Seed{}, "R1M1", choices, none), number(Seed{}, "R1M1", choices));
    EXPECT_EQ(number(Seed{}, "R1M1", choices, only_a),
              number(Seed{}, "R1M1", choices, bound(true, false)));
  }
}

TEST(Draw, EachNumberIsEquallyLikelyForEachPairOfChoicesInBothVersions) {
  // 27.88 is the 99.9 % point of chi-square with 9 degrees of freedom; the seeds are fixed, so this
  // never flickers.
  for (const Bindings& bindings : {Bindings{}, bound(true, true)}) {
    for (const Choices& choices : kAllChoices) {
      std::array<int, 10> counts{};
      for (std::uint32_t n = 0; n < 20'000; ++n) {
        const int drawn = number(seed_number(n), "R1M1", choices, bindings);
        ASSERT_TRUE(kOneToTen.contains(drawn));
        ++counts[static_cast<std::size_t>(drawn - 1)];
      }
      EXPECT_LT(chi_square(counts), 27.88) << choices[Side::kA] << " " << choices[Side::kB];
    }
  }
}

TEST(Draw, EachNonceGivesEveryNumberEquallyOftenForOneSeed) {
  // What a player adds is as good as the seed: who knows the seed alone knows nothing.
  std::array<int, 10> counts{};
  Bindings bindings = bound(true, true);
  for (std::uint32_t n = 0; n < 20'000; ++n) {
    bindings.nonces[Side::kB] = core::to_hex(seed_number(n));
    ++counts[static_cast<std::size_t>(number(Seed{}, "R1M1", {{"even", "odd"}}, bindings) - 1)];
  }
  EXPECT_LT(chi_square(counts), 27.88);
}

TEST(Draw, DrawsOfDifferentChoicesWithTheSameSeedAreIndependent) {
  // 148.23 is the 99.9 % point of chi-square with 99 degrees of freedom.
  for (std::size_t first = 0; first < kAllChoices.size(); ++first) {
    for (std::size_t second = first + 1; second < kAllChoices.size(); ++second) {
      std::array<int, 100> counts{};
      for (std::uint32_t n = 0; n < 20'000; ++n) {
        const int a = number(seed_number(n), "R1M1", kAllChoices[first]);
        const int b = number(seed_number(n), "R1M1", kAllChoices[second]);
        ++counts[static_cast<std::size_t>((a - 1) * 10 + b - 1)];
      }
      EXPECT_LT(chi_square(counts), 148.23) << first << " and " << second;
    }
  }
}

TEST(DrawCommitment, IsTheHashOfSeedAndMatch) {
  // sha256sum of 32 zero bytes and "R1M1".
  EXPECT_EQ(draw_commitment(Seed{}, "R1M1"),
            "0e3ee5137f2a26034711603b5ff8be443fc3a74eaa91aedd39f5c60c7e891833");
  EXPECT_NE(draw_commitment(Seed{}, "R1M1"), draw_commitment(Seed{}, "R1M2"));
}

TEST(Seed, IsReadFromSixtyFourDigits) {
  const std::string hex = core::to_hex(ascending());
  EXPECT_EQ(parse_seed(hex).value(), ascending());
  for (const std::string& bad : {std::string(), hex.substr(2), hex + "00", std::string(64, 'x')}) {
    const auto seed = parse_seed(bad);
    ASSERT_FALSE(seed) << bad;
    EXPECT_EQ(seed.error().code, core::ErrorCode::kInvalidFieldValue);
  }
}

}  // namespace
}  // namespace league::game
