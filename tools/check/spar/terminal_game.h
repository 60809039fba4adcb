#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/core/random_source.h"
#include "common/core/result.h"
#include "game/games.h"
#include "player/core/open_match.h"
#include "player/core/strategy.h"
#include "referee/core/match.h"

namespace league::tools::check {

/// Matches between a person and one of our strategies, without a league: the referee's own state
/// machine plays them in this process, both players commit before they choose aloud, and each match
/// is shown with its choices, its number and a command that recomputes it. For one thread.
class TerminalGame {
 public:
  struct Options {
    game::SharedDefinition game = game::even_odd();
    std::string strategy = "random";  ///< of the opponent
    int matches = 10;
    std::optional<std::uint64_t> seed = std::nullopt;  ///< repeats everything but the person
    bool is_coloured = false;
    /// Whoever types the answers sees them, with their line ends.
    bool is_typed = false;
  };

  /// `in` and `out` outlive it. Fails for an unknown strategy.
  [[nodiscard]] static core::Result<std::unique_ptr<TerminalGame>> create(Options options,
                                                                          std::istream& in,
                                                                          std::ostream& out);

  /// Plays until the last match is over, or the input ends or says `q`.
  void run();

 private:
  struct Score {
    int wins = 0;
    int draws = 0;
    game::PerSide<int> points;
  };

  TerminalGame(Options options, std::istream& in, std::ostream& out);
  /// False if the person does not want to play it.
  bool play(int number);
  /// Plays the match of two players who have chosen.
  void referee_match(const referee::MatchPlan& plan, const game::PerSide<player::OpenMatch>& hands);
  [[nodiscard]] std::optional<std::string_view> ask();
  void show(const referee::MatchPlan& plan, const referee::RefereedMatch& match);
  void remember(const referee::MatchPlan& plan, const game::MatchResult& result);
  void show_score(int played) const;
  [[nodiscard]] std::string painted(std::string_view style, const std::string& text) const;

  const Options options_;
  std::istream& in_;
  std::ostream& out_;
  const game::Definition& rules_;
  const std::unique_ptr<core::RandomSource> random_;
  player::Strategy strategy_;
  player::MatchHistory history_;  ///< the opponent's
  Score score_;  ///< the person's wins; the person is player A
};

}  // namespace league::tools::check
