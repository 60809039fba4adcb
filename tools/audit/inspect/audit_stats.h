#pragma once

#include <array>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

#include "game/registry.h"
#include "tools/audit/inspect/audit_commands.h"

namespace league::tools::auditor {

/// A match that was played to its end.
struct MatchSample {
  std::string player_a;
  std::string player_b;
  bool a_first = false;  ///< A made the first choice of the game
  bool b_first = false;
  int number = 0;  ///< 1 to 10
};

/// The rules of Even/Odd: what these statistics are about.
[[nodiscard]] const game::Rules& statistics_rules();

/// There are five tests (all pairs together are one), so one honest league in a hundred is
/// suspected.
inline constexpr double kSuspicious = 0.002;
/// Pairs that met less often are not tested.
inline constexpr std::size_t kFewestOfAPair = 5;

/// The outcome of one statistical test. `p`: the probability of figures that deviate at least this
/// much if all is well; corrected if the worst of several values is taken. `power`: the probability
/// that the test detects (p < kSuspicious) the deviation that `deviation` describes, with this
/// sample.
struct TestResult {
  std::string name;
  std::size_t sample = 0;
  double statistic = 0;
  double p = 1;
  std::string deviation;
  double power = 0;
  [[nodiscard]] bool is_suspicious() const { return sample > 0 && p < kSuspicious; }
};

/// How often two players chose differently, compared with the value that follows from each one's
/// habits.
struct PairRate {
  std::string pair;  ///< `P01 P02`
  std::size_t matches = 0;
  std::size_t opposite = 0;
  double expected = 0;
  double p = 1;  ///< corrected for the number of pairs
  double power = 0;  ///< for the deviation that they choose differently in 0.95 of their matches
  [[nodiscard]] bool is_suspicious() const { return p < kSuspicious; }
};

struct LeagueStatistics {
  std::size_t matches = 0;
  std::array<std::size_t, 10> numbers{};  ///< how often each of 1 to 10 was drawn
  std::vector<TestResult> tests;  ///< uniformity, dependence, who wins, roles
  std::vector<PairRate> pairs;  ///< that met at least kFewestOfAPair times, by p
  [[nodiscard]] bool is_suspicious() const;
};

/// Uniformity of the draws, their dependence on the choices, the advantage and the balance of the
/// roles, and pairs that choose differently more or less often than their habits explain.
[[nodiscard]] LeagueStatistics statistics_of(const std::vector<MatchSample>& matches);

/// `league audit stats`: prints statistics_of the matches in the reports that the managers of one
/// or several leagues accepted. With several leagues, players are identified by their display
/// names. Returns 0, 1 if something is suspicious, 2 if there is nothing to count.
int audit_stats(const std::vector<std::filesystem::path>& directories, AuditOutput options,
                std::ostream& out, std::ostream& err);

}  // namespace league::tools::auditor
