#include "referee/rules/even_odd.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

namespace league::referee::rules {
namespace {

const std::array<Choices, 4> kAllChoices = {
    {{"even", "even"}, {"even", "odd"}, {"odd", "even"}, {"odd", "odd"}}};

DrawSeed seed_number(std::uint32_t n) { return core::sha256(std::to_string(n)); }

DrawSeed seed_filled_with(std::uint8_t byte) {
  DrawSeed seed;
  seed.fill(byte);
  return seed;
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

TEST(EvenOdd, KnownDraws) {
  // From ten lines of Python with the standard library's hmac, independent of this implementation.
  struct Vector {
    DrawSeed seed;
    std::string match_id;
    std::array<int, 4> numbers;  // in the order of kAllChoices
  };
  DrawSeed ascending;
  for (std::size_t i = 0; i < ascending.size(); ++i) ascending[i] = static_cast<std::uint8_t>(i);
  const std::array<Vector, 6> vectors = {{
      {seed_filled_with(0x00), "R1M1", {3, 4, 1, 3}},
      {seed_filled_with(0x00), "R12M345", {9, 8, 10, 1}},  // even|odd: first byte 0xfd is rejected
      {ascending, "R1M1", {10, 8, 2, 3}},
      {ascending, "R12M345", {10, 1, 5, 2}},
      {seed_filled_with(0xff), "R1M1", {1, 10, 1, 3}},
      {seed_filled_with(0xff), "R12M345", {8, 4, 3, 9}},
  }};
  for (const Vector& vector : vectors) {
    for (std::size_t i = 0; i < kAllChoices.size(); ++i) {
      EXPECT_EQ(EvenOdd().draw_number(vector.seed, vector.match_id, kAllChoices[i]),
                vector.numbers[i])
          << vector.match_id << " " << kAllChoices[i].player_a << " " << kAllChoices[i].player_b;
    }
  }
}

TEST(EvenOdd, ARejectedByteIsFollowedByTheNextOne) {
  // HMAC of "R1M1|even|odd|0" begins with ff ee: 255 is rejected, 238 gives 9.
  EXPECT_EQ(EvenOdd().draw_number(seed_number(17), "R1M1", {"even", "odd"}), 9);
}

TEST(EvenOdd, EachNumberIsEquallyLikelyForEachPairOfChoices) {
  // 27.88 is the 99.9 % point of chi-square with 9 degrees of freedom; the seeds are fixed, so this
  // never flickers.
  for (const Choices& choices : kAllChoices) {
    std::array<int, 10> counts{};
    for (std::uint32_t n = 0; n < 20'000; ++n) {
      const int number = EvenOdd().draw_number(seed_number(n), "R1M1", choices);
      ASSERT_GE(number, 1);
      ASSERT_LE(number, 10);
      ++counts[static_cast<std::size_t>(number - 1)];
    }
    EXPECT_LT(chi_square(counts), 27.88) << choices.player_a << " " << choices.player_b;
  }
}

TEST(EvenOdd, DrawsOfDifferentChoicesWithTheSameSeedAreIndependent) {
  // 148.23 is the 99.9 % point of chi-square with 99 degrees of freedom.
  for (std::size_t first = 0; first < kAllChoices.size(); ++first) {
    for (std::size_t second = first + 1; second < kAllChoices.size(); ++second) {
      std::array<int, 100> counts{};
      for (std::uint32_t n = 0; n < 20'000; ++n) {
        const int a = EvenOdd().draw_number(seed_number(n), "R1M1", kAllChoices[first]);
        const int b = EvenOdd().draw_number(seed_number(n), "R1M1", kAllChoices[second]);
        ++counts[static_cast<std::size_t>((a - 1) * 10 + b - 1)];
      }
      EXPECT_LT(chi_square(counts), 148.23) << first << " and " << second;
    }
  }
}

TEST(EvenOdd, OnlyTheTwoExactWordsAreChoices) {
  EXPECT_EQ(EvenOdd().validate_choice("even").value(), "even");
  EXPECT_EQ(EvenOdd().validate_choice("odd").value(), "odd");
  for (const char* bad :
       {"Even", "ODD", "e", "", "0", "true", "null", " even", "even ", "evenodd"}) {
    const auto choice = EvenOdd().validate_choice(bad);
    ASSERT_FALSE(choice) << bad;
    EXPECT_EQ(choice.error().code, core::ErrorCode::kInvalidParityChoice);
    EXPECT_EQ(choice.error().field, "/parity_choice");
  }
}

TEST(EvenOdd, ARefusalShowsAStrangersTextShortAndPrintable) {
  const auto choice = EvenOdd().validate_choice("\x1b[2J\n" + std::string(100'000, 'x'));
  ASSERT_FALSE(choice);
  EXPECT_LT(choice.error().message.size(), 200U);
  EXPECT_EQ(choice.error().message.find('\x1b'), std::string::npos);
}

TEST(EvenOdd, TheOneWhoIsRightAloneWins) {
  const EvenOdd rules;
  for (int number = 1; number <= 10; ++number) {
    const bool is_even = number % 2 == 0;
    const Outcome split = rules.determine_winner({"even", "odd"}, number);
    EXPECT_EQ(split.winner, is_even ? Winner::kPlayerA : Winner::kPlayerB) << number;
    EXPECT_EQ(split.number_kind, is_even ? "even" : "odd");
    EXPECT_EQ(rules.determine_winner({"odd", "even"}, number).winner,
              is_even ? Winner::kPlayerB : Winner::kPlayerA);
    EXPECT_EQ(rules.determine_winner({"even", "even"}, number).winner, Winner::kNobody);
    EXPECT_EQ(rules.determine_winner({"odd", "odd"}, number).winner, Winner::kNobody);
  }
}

TEST(EvenOdd, TheReasonSaysWhatHappened) {
  EXPECT_EQ(EvenOdd().determine_winner({"even", "odd"}, 8).reason,
            "The number is 8, which is even: only player A is right.");
}

TEST(EvenOdd, StartsWithTheWordsAndTheRange) {
  const GameState state = EvenOdd().init_game_state();
  EXPECT_EQ(state.allowed_choices, (std::vector<std::string>{"even", "odd"}));
  EXPECT_EQ(state.lowest_number, 1);
  EXPECT_EQ(state.highest_number, 10);
}

}  // namespace
}  // namespace league::referee::rules
