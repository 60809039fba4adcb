// The arithmetic of `league audit stats`.
#include <algorithm>
#include <cmath>
#include <map>

#include "tools/audit/inspect/audit_stats.h"
#include "tools/audit/inspect/probability.h"

namespace league::tools::auditor {
namespace {

using Matches = std::vector<MatchSample>;

double as_real(std::size_t value) { return static_cast<double>(value); }

TestResult uniformity(const LeagueStatistics& all) {
  TestResult test{.name = "draws are uniform over 1 to 10",
                  .sample = all.matches,
                  .deviation = "one number comes twice as often as it should"};
  double expected = as_real(all.matches) / 10;
  for (std::size_t count : all.numbers) {
    double off = as_real(count) - expected;
    test.statistic += expected > 0 ? off * off / expected : 0;
  }
  test.p = chi_squared_tail(test.statistic, 9);
  // The noncentrality for one number with probability 0.2 and the others with 0.8 / 9 each.
  double off = 0.1 - 0.8 / 9;
  double shift = 10 * (0.01 + 9 * off * off) * as_real(all.matches);
  test.power = chi_squared_tail(chi_squared_critical(kSuspicious, 9), 9, shift);
  return test;
}

/// Whether a number is of the kind that the game's first choice names.
bool is_first_kind(int number) {
  const game::Rules& rules = statistics_rules();
  return rules.kind_of(number) == rules.choices().front();
}

/// Tests that the kind of the number does not depend on the pair of choices, of which there are
/// four.
TestResult dependence(const Matches& matches) {
  TestResult test{.name = "draws do not depend on the choices",
                  .sample = matches.size(),
                  .deviation = "the parity follows the choices in one match of five"};
  std::array<std::array<double, 2>, 4> table{};
  for (const auto& match : matches)
    table[(match.a_first ? 2U : 0U) + (match.b_first ? 1U : 0U)]
         [is_first_kind(match.number) ? 1 : 0] += 1;
  double freedom = 0;
  for (const auto& row : table) {
    double n = row[0] + row[1];
    if (n == 0) continue;
    freedom += 1;
    test.statistic += (row[0] - row[1]) * (row[0] - row[1]) / n;
  }
  if (freedom == 0) return test;
  test.p = chi_squared_tail(test.statistic, freedom);
  // A probability of 0.6 instead of 0.5 gives a noncentrality of 0.04 n.
  test.power = chi_squared_tail(chi_squared_critical(kSuspicious, freedom), freedom,
                                0.04 * as_real(matches.size()));
  return test;
}

/// Tests that player A won half of the matches that were not drawn.
TestResult advantage_of_role(const Matches& matches) {
  std::size_t decided = 0;
  std::size_t a_wins = 0;
  for (const auto& match : matches) {
    if (match.a_first == match.b_first) continue;
    ++decided;
    if (match.a_first == is_first_kind(match.number)) ++a_wins;
  }
  TestResult test{.name = "player A wins as often as player B",
                  .sample = decided,
                  .statistic = as_real(a_wins),
                  .deviation = "A wins 0.6 of the decided matches"};
  test.p = binomial_two_sided(a_wins, decided, 0.5);
  test.power = binomial_power(decided, 0.5, 0.6, kSuspicious);
  return test;
}

/// Tests that nobody is A much more often than B. The p-value is that of the most one-sided player,
/// corrected for the number of players.
TestResult role_balance(const Matches& matches) {
  std::map<std::string, std::pair<std::size_t, std::size_t>> roles;  // matches as A; all matches
  for (const auto& match : matches) {
    ++roles[match.player_a].first;
    ++roles[match.player_a].second;
    ++roles[match.player_b].second;
  }
  TestResult test{.name = "everybody is player A as often as B",
                  .sample = matches.size(),
                  .deviation = "one player is A in 0.9 of its matches"};
  std::size_t fewest = matches.size();
  for (const auto& [player, counts] : roles) {
    double p = binomial_two_sided(counts.first, counts.second, 0.5) * as_real(roles.size());
    if (p < test.p) {
      test.p = p;
      test.statistic = as_real(counts.first) / as_real(counts.second);
    }
    fewest = std::min(fewest, counts.second);
  }
  if (!roles.empty())
    test.power = binomial_power(fewest, 0.5, 0.9, kSuspicious / as_real(roles.size()));
  return test;
}

struct ChoiceCounts {
  double even = 0;
  double chosen = 0;
  [[nodiscard]] double share() const { return even / chosen; }
};

PairRate pair_rate(const std::string& name, const std::vector<const MatchSample*>& played,
                   double expected, double alpha) {
  PairRate rate{.pair = name, .matches = played.size(), .expected = expected};
  for (const MatchSample* match : played) rate.opposite += match->a_first != match->b_first ? 1 : 0;
  rate.p = binomial_two_sided(rate.opposite, rate.matches, expected);
  rate.power = binomial_power(rate.matches, expected, 0.95, alpha);
  return rate;
}

std::vector<PairRate> pair_rates(const Matches& matches) {
  std::map<std::string, ChoiceCounts> habits;
  std::map<std::string, std::vector<const MatchSample*>> pairs;
  for (const auto& match : matches) {
    habits[match.player_a].even += match.a_first ? 1 : 0;
    habits[match.player_b].even += match.b_first ? 1 : 0;
    habits[match.player_a].chosen += 1;
    habits[match.player_b].chosen += 1;
    const auto& [first, second] = std::minmax(match.player_a, match.player_b);
    pairs[first + " " + second].push_back(&match);
  }
  // Only pairs that met often enough are tested, so only they count for the correction.
  std::erase_if(pairs, [](const auto& pair) { return pair.second.size() < kFewestOfAPair; });
  std::vector<PairRate> rates;
  auto count = as_real(pairs.size());
  for (const auto& [name, played] : pairs) {
    double a = habits[played.front()->player_a].share();
    double b = habits[played.front()->player_b].share();
    rates.push_back(pair_rate(name, played, a * (1 - b) + b * (1 - a), kSuspicious / count));
    rates.back().p = std::min(1.0, rates.back().p * count);
  }
  std::ranges::stable_sort(rates, {}, &PairRate::p);
  return rates;
}

}  // namespace

const game::Rules& statistics_rules() { return **game::standard_games().find("even_odd"); }

LeagueStatistics statistics_of(const Matches& matches) {
  LeagueStatistics all;
  all.matches = matches.size();
  for (const auto& match : matches) ++all.numbers[static_cast<std::size_t>(match.number - 1)];
  all.tests = {uniformity(all), dependence(matches), advantage_of_role(matches),
               role_balance(matches)};
  all.pairs = pair_rates(matches);
  return all;
}

}  // namespace league::tools::auditor
