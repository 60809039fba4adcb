#include "league_manager/table/luck.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "league_manager/table/davidson.h"

namespace league::league_manager::table {
namespace {

/// With more matches than these, the probability is computed by a formula.
constexpr std::size_t kMostSampled = 5000;

/// The wins minus losses of each player.
using Balance = std::vector<std::int64_t>;

void count_win(Balance& balance, int winner, int loser) {
  ++balance[static_cast<std::size_t>(winner)];
  --balance[static_cast<std::size_t>(loser)];
}

std::int64_t unevenness(const Balance& balance) {
  std::int64_t sum = 0;
  for (std::int64_t one : balance) sum += one * one;
  return sum;
}

/// A sample: which matches are won, and by whom, decided one after the other. Without branches,
/// which no processor could predict here.
void deal(std::span<const CountedMatch> matches, std::uint64_t won, SplitMix& bits,
          Balance& balance) {
  std::uint64_t left = matches.size();
  for (const CountedMatch& match : matches) {
    const std::uint64_t number = bits.next();
    const auto is_won = static_cast<std::uint64_t>((number >> 32U) * left < won << 32U);
    --left;
    won -= is_won;
    const std::int64_t of_a =
        static_cast<std::int64_t>(is_won) * (static_cast<std::int64_t>((number & 1U) << 1U) - 1);
    balance[static_cast<std::size_t>(match.player_a)] += of_a;
    balance[static_cast<std::size_t>(match.player_b)] -= of_a;
  }
}

/// The variance of the unevenness: two matches that share players vary it, each such pair by
/// itself.
double variance_of(std::size_t players, std::span<const CountedMatch> matches, double won) {
  std::vector<double> played(players);
  std::vector<std::pair<int, int>> pairs;
  for (const CountedMatch& match : matches) {
    ++played[static_cast<std::size_t>(match.player_a)];
    ++played[static_cast<std::size_t>(match.player_b)];
    pairs.push_back(std::minmax(match.player_a, match.player_b));
  }
  std::ranges::sort(pairs);
  double same = 0;  // pairs of matches with the same two players
  for (auto begin = pairs.begin(); begin != pairs.end();) {
    const auto end = std::upper_bound(begin, pairs.end(), *begin);
    const auto times = static_cast<double>(end - begin);
    same += times * (times - 1) / 2;
    begin = end;
  }
  double sharing = -2 * same;  // ... with one player in common
  for (double own : played) sharing += own * (own - 1) / 2;
  const auto all = static_cast<double>(matches.size());
  return (4 * sharing + 16 * same) * won * (won - 1) / (all * (all - 1));
}

/// By the gamma distribution with the same mean and variance, as Wilson and Hilferty approximate
/// it.
double by_formula(std::size_t players, std::span<const CountedMatch> matches, double won,
                  double uneven) {
  const double mean = 2 * won;
  const double variance = variance_of(players, matches, won);
  if (variance <= 0) return 1;
  const double spread = variance / (9 * mean * mean);
  const double z = (std::cbrt(uneven / mean) - (1 - spread)) / std::sqrt(spread);
  return std::erfc(z / std::sqrt(2.0)) / 2;
}

}  // namespace

std::optional<double> luck_of(std::size_t players, std::span<const CountedMatch> matches,
                              std::uint64_t seed, const std::stop_token& stop) {
  Balance balance(players);
  std::uint64_t won = 0;
  for (const CountedMatch& match : matches) {
    const auto winner = game::winner_of(match.outcome);
    if (!winner) continue;
    ++won;
    *winner == game::Side::kA ? count_win(balance, match.player_a, match.player_b)
                              : count_win(balance, match.player_b, match.player_a);
  }
  if (won == 0) return std::nullopt;
  const std::int64_t uneven = unevenness(balance);
  if (matches.size() > kMostSampled)
    return by_formula(players, matches, static_cast<double>(won), static_cast<double>(uneven));
  SplitMix bits(seed);
  std::size_t as_uneven = 0;
  for (std::size_t i = 0; i < kSamples; ++i) {
    if (stop.stop_requested()) return std::nullopt;
    std::ranges::fill(balance, 0);
    deal(matches, won, bits, balance);
    if (unevenness(balance) >= uneven) ++as_uneven;
  }
  return static_cast<double>(as_uneven) / static_cast<double>(kSamples);
}

}  // namespace league::league_manager::table
