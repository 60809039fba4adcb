#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "referee/core/match.h"
#include "tools/check/player/player_bench.h"

namespace league::tools::check {

/// The outcome of one match between two bots, without a league.
struct SparMatch {
  referee::RefereedMatch result;
  std::vector<std::string> story;  ///< one line for each event
};

/// One of the two bots, with statistics of its calls.
struct SparSide {
  std::string name;
  std::unique_ptr<PlayerBench> bench;
  std::vector<std::chrono::nanoseconds> latencies;  ///< of invitations and calls that were answered
  std::map<std::string, int> errors;  ///< number of this bot's own failures, by termination
};

/// Plays matches between two bots with the referee's core: the same rules, limits, retries and
/// draws as in a league, but without reports and a table. Not thread-safe.
class Sparring {
 public:
  /// Each bot is called with its own token, if it has one. `settings`: the limits.
  Sparring(std::array<SparSide, 2> sides, referee::MatchSettings settings);

  /// Plays one match; the bots change sides with each.
  [[nodiscard]] SparMatch play();
  [[nodiscard]] const SparSide& side(std::size_t at) const { return sides_.at(at); }
  /// Which bot was player A in the last match.
  [[nodiscard]] std::size_t first() const { return first_; }

 private:
  struct Course;
  /// The next match, as the players know it and as the referee's state machine.
  [[nodiscard]] std::pair<TestMatch, referee::Match> next_match();
  /// Carries out `effects`, including those that follow immediately and are appended. Returns
  /// whether the match is over.
  [[nodiscard]] bool carry_out(Course& course, referee::Effects& effects);
  void call_player(Course& course, const referee::CallPlayer& call);
  void tell_result(Course& course, const referee::RefereedMatch& match);
  [[nodiscard]] SparSide& seat(game::Side side) {
    return sides_.at(game::index(side) == 0 ? first_ : 1 - first_);
  }

  std::array<SparSide, 2> sides_;
  const referee::MatchSettings settings_;
  core::CryptoRandom random_;
  std::size_t first_ = 1;
  int number_ = 0;
};

/// The bounds of the share of wins, where a draw counts half, at a confidence of 95 % (Wilson):
/// `points` of `matches`, each a share between 0 and 1.
[[nodiscard]] std::pair<double, double> wilson_interval(double points, std::size_t matches);

}  // namespace league::tools::check
