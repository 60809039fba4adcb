#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/check/trial/trial_league.h"

namespace league::tools::check {

/// The outcome of one match between two bots, without a league.
struct SparMatch {
  std::optional<std::size_t> winner = std::nullopt;  ///< the bot's place in Sparring
  bool is_draw = false;
  std::array<bool, 2> is_technical{};  ///< which of them failed
  std::vector<std::string> story;  ///< one line for each event
};

/// How often a bot lost for one reason, and the last time in words.
struct SparLosses {
  int count = 0;
  std::string last;
};

/// One of the two bots, with statistics of its calls.
struct SparSide {
  std::string name;
  TrialSeat seat;
  std::vector<std::chrono::nanoseconds> latencies;  ///< of invitations and calls that were answered
  std::map<std::string, SparLosses> losses;  ///< for its own failures, by termination
};

/// Plays matches between two bots as in a league, but without reports and a table. Not
/// thread-safe.
class Sparring {
 public:
  /// Each bot is called with its own token, if it has one.
  Sparring(std::array<SparSide, 2> sides, std::unique_ptr<TrialLeague> league)
      : sides_(std::move(sides)), league_(std::move(league)) {}

  /// Plays one match; the bots change sides with each.
  [[nodiscard]] SparMatch play();
  [[nodiscard]] const SparSide& side(std::size_t at) const { return sides_.at(at); }

 private:
  void note_calls(const TrialMatch& match, SparMatch& outcome);

  std::array<SparSide, 2> sides_;
  const std::unique_ptr<TrialLeague> league_;
  std::size_t first_ = 1;
  int number_ = 0;
};

/// The bounds of the share of wins, where a draw counts half, at a confidence of 95 % (Wilson):
/// `points` of `matches`, each a share between 0 and 1.
[[nodiscard]] std::pair<double, double> wilson_interval(double points, std::size_t matches);

}  // namespace league::tools::check
