// The arithmetic of `league audit stats`.
#include <algorithm>
#include <cmath>
#include <map>

#include "tools/league/audit_stats.h"

namespace league::tools {
namespace {

constexpr double kCritical = 2.5758;  // two-sided, 1 %
constexpr std::size_t kFewestMatchesOfAPair = 5;

double normal_above(double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); }
double two_sided(double z) { return 2 * normal_above(std::abs(z)); }

/// P(chi-squared with `freedom` degrees > x), by Wilson and Hilferty.
double chi_squared_above(double x, double freedom) {
  if (x <= 0) return 1;
  double v = 2 / (9 * freedom);
  return normal_above((std::cbrt(x / freedom) - (1 - v)) / std::sqrt(v));
}

/// That a test at 1 % sees a share that is `shift` away from one half.
double power_of_half(double shift, std::size_t n) {
  double z = 2 * shift * std::sqrt(static_cast<double>(n));
  return normal_above(kCritical - z);
}

/// How many standard deviations `k` of `n` is away from a share of `p`.
double distance(std::size_t k, std::size_t n, double p) {
  double sd = std::sqrt(static_cast<double>(n) * p * (1 - p));
  return sd > 0 ? (static_cast<double>(k) - static_cast<double>(n) * p) / sd : 0;
}

TestResult uniformity(const LeagueStatistics& all) {
  TestResult test{.name = "draws are uniform over 1 to 10",
                  .sample = all.matches,
                  .deviation = "one number comes twice as often as it should"};
  double expected = static_cast<double>(all.matches) / 10;
  for (std::size_t count : all.numbers) {
    double off = static_cast<double>(count) - expected;
    test.statistic += expected > 0 ? off * off / expected : 0;
  }
  test.p = chi_squared_above(test.statistic, 9);
  // With one number at 0.2 and the others at 0.8 / 9 the statistic grows by n times the effect.
  constexpr double kCriticalOfNine = 21.67;
  double off = 0.1 - 0.8 / 9;
  double shift = 10 * (0.01 + 9 * off * off) * static_cast<double>(all.matches);
  test.power = normal_above((kCriticalOfNine - 9 - shift) / std::sqrt(18 + 4 * shift));
  return test;
}

TestResult dependence(const std::vector<PlayedMatch>& matches) {
  TestResult test{.name = "draws do not depend on the choices",
                  .sample = matches.size(),
                  .deviation = "after each pair of choices the parity leans by 0.1"};
  std::array<std::array<double, 2>, 4> table{};
  for (const auto& match : matches)
    table[(match.a_even ? 2U : 0U) + (match.b_even ? 1U : 0U)][match.number % 2 == 0 ? 1 : 0] += 1;
  double freedom = 0;
  for (const auto& row : table) {
    double n = row[0] + row[1];
    if (n == 0) continue;
    freedom += 1;
    test.statistic += (row[0] - row[1]) * (row[0] - row[1]) / n;
  }
  if (freedom > 0) test.p = chi_squared_above(test.statistic, freedom);
  constexpr double kCriticalOfFour = 13.28;
  double shift = 4 * 0.01 * static_cast<double>(matches.size());
  test.power = normal_above((kCriticalOfFour - 4 - shift) / std::sqrt(8 + 4 * shift));
  return test;
}

TestResult roles(const std::vector<PlayedMatch>& matches) {
  std::size_t decided = 0;
  std::size_t a_wins = 0;
  for (const auto& match : matches) {
    if (match.a_even == match.b_even) continue;
    ++decided;
    if (match.a_even == (match.number % 2 == 0)) ++a_wins;
  }
  TestResult test{.name = "player A wins as often as player B",
                  .sample = decided,
                  .statistic = distance(a_wins, decided, 0.5),
                  .deviation = "A wins 0.6 of the decided matches"};
  test.p = two_sided(test.statistic);
  test.power = power_of_half(0.1, decided);
  return test;
}

std::vector<PairRate> pair_rates(const std::vector<PlayedMatch>& matches) {
  std::map<std::string, std::pair<double, double>> habits;  // chose even; chose
  std::map<std::string, std::vector<const PlayedMatch*>> pairs;
  for (const auto& match : matches) {
    habits[match.player_a].first += match.a_even ? 1 : 0;
    habits[match.player_b].first += match.b_even ? 1 : 0;
    habits[match.player_a].second += 1;
    habits[match.player_b].second += 1;
    const auto& [first, second] = std::minmax(match.player_a, match.player_b);
    pairs[first + " " + second].push_back(&match);
  }
  auto share = [&](const std::string& player) {
    return habits[player].first / habits[player].second;
  };
  std::vector<PairRate> rates;
  for (const auto& [name, played] : pairs) {
    PairRate rate{.pair = name, .matches = played.size()};
    for (const PlayedMatch* match : played) rate.opposite += match->a_even != match->b_even ? 1 : 0;
    double a = share(played.front()->player_a);
    double b = share(played.front()->player_b);
    rate.expected = a * (1 - b) + b * (1 - a);
    if (rate.matches >= kFewestMatchesOfAPair)
      rate.p = two_sided(distance(rate.opposite, rate.matches, rate.expected));
    rate.p = std::min(1.0, rate.p * static_cast<double>(pairs.size()));
    rates.push_back(std::move(rate));
  }
  std::ranges::stable_sort(rates, {}, &PairRate::p);
  return rates;
}

}  // namespace

LeagueStatistics statistics_of(const std::vector<PlayedMatch>& matches) {
  LeagueStatistics all;
  all.matches = matches.size();
  for (const auto& match : matches) ++all.numbers[static_cast<std::size_t>(match.number - 1)];
  all.tests = {uniformity(all), dependence(matches), roles(matches)};
  all.pairs = pair_rates(matches);
  return all;
}

}  // namespace league::tools
