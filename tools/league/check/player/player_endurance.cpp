// Many matches in a row.
#include <algorithm>

#include "tools/league/check/game_truth.h"
#include "tools/league/check/player/player_checks.h"

namespace league::tools::check {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

Nanoseconds median(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  return times.empty() ? Nanoseconds(0) : times[times.size() / 2];
}

/// Plays `count` matches; the median latency of the last quarter is compared with the first's.
Verdict play_many(PlayerBench& bench, std::size_t count) {
  std::vector<Nanoseconds> first;
  std::vector<Nanoseconds> last;
  PlayedGame game;
  for (std::size_t i = 0; i < count; ++i) {
    game = bench.play(bench.new_match());
    if (PlayerBench::choice_in(game.choice).empty()) {
      Verdict verdict = expect_choice(game.choice, "it is one of many");
      verdict.got =
          "match " + std::to_string(i + 1) + " of " + std::to_string(count) + ": " + verdict.got;
      return verdict;
    }
    const Nanoseconds took = game.join.exchange.elapsed + game.choice.exchange.elapsed;
    if (i < count / 4) first.push_back(took);
    if (i >= count - count / 4) last.push_back(took);
  }
  const PlayedGame& sample = bench.sample();
  const auto before = std::min<Nanoseconds>(
      median(first), sample.join.exchange.elapsed + sample.choice.exchange.elapsed);
  const auto after = median(last);
  if (after < 3 * before + std::chrono::milliseconds(20)) return pass();
  return fail(game.choice.exchange, "", "the last matches as quick as the first",
              "the median of the last quarter is " + std::to_string(after.count() / 1000) +
                  " us, at the beginning it was " + std::to_string(before.count() / 1000) + " us");
}

}  // namespace

void add_endurance_checks(PlayerBench& bench, Checks& out) {
  out.push_back(
      {{.id = "P-6/many-matches",
        .level = Level::kRobust,
        .text = "Many matches in a row are played, and the last are as quick as the "
                "first.",
        .fix = "Forget a match after GAME_OVER; do not search all matches for each call."},
       [&bench] { return play_many(bench, bench.is_fast() ? 60 : 400); }});
  out.push_back({{.id = "P-4.9/every-choice-valid",
                  .level = Level::kMust,
                  .text = "The choice is a valid word in every match, not only in the first.",
                  .fix = "Send only \"even\" and \"odd\", in every match.",
                  .needs_word = true},
                 [&bench] {
                   for (int i = 0; i < (bench.is_fast() ? 10 : 40); ++i) {
                     const PlayedGame game = bench.play(bench.new_match());
                     const std::string word = game.choice.text("parity_choice");
                     if (!is_game_word(word))
                       return fail(game.choice.exchange, game.choice.place + "/parity_choice",
                                   "\"even\" or \"odd\"",
                                   shown_value(game.choice.message, "parity_choice"));
                   }
                   return pass();
                 }});
}

}  // namespace league::tools::check
