// Many matches in a row.
#include <algorithm>

#include "tools/check/game_truth.h"
#include "tools/check/player/player_checks.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using Nanoseconds = std::chrono::nanoseconds;

/// The time that a tenth of `times` keeps. A busy machine delays most matches and not all of them,
/// whereas a bot that searches everything it has kept is slow in each.
Nanoseconds best_tenth(std::vector<Nanoseconds> times) {
  std::ranges::sort(times);
  return times.empty() ? Nanoseconds(0) : times[times.size() / 10];
}

std::string milliseconds_text(Nanoseconds time) {
  return short_number(std::chrono::duration<double, std::milli>(time).count()) + " ms";
}

/// Plays `count` matches; the last quarter is compared with the first, each by its fastest tenth.
Verdict play_many(PlayerBench& bench, std::size_t count) {
  std::vector<Nanoseconds> first;
  std::vector<Nanoseconds> last;
  PlayedGame game;
  for (std::size_t i = 0; i < count; ++i) {
    game = bench.play(bench.new_match());
    if (PlayerBench::choice_in(game.choice).empty()) {
      Verdict verdict = expect_choice(game.choice, "it is one of many matches in a row");
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
      best_tenth(first), sample.join.exchange.elapsed + sample.choice.exchange.elapsed);
  const auto after = best_tenth(last);
  return expect(after < 3 * before + std::chrono::milliseconds(20), game.choice.exchange, "",
                "the last matches are as fast as the first",
                milliseconds_text(after) + " per match in the last quarter (its fastest tenth), " +
                    milliseconds_text(before) + " in the first");
}

const Probe<PlayerBench> kEndurance[] = {
    {"P-6/many-matches", Level::kRobust,
     "The bot plays many matches in a row, and the last are as fast as the first.",
     "Forget a match after GAME_OVER, and look matches up by match_id instead of searching all of "
     "them.",
     [](PlayerBench& bench) { return play_many(bench, bench.is_fast() ? 60 : 400); }},
    {"P-4.9/every-choice-valid",
     Level::kMust,
     "The bot's choice is valid in every match, not only in the first.",
     "Send only \"even\" or \"odd\", in every match.",
     [](PlayerBench& bench) {
       for (int i = 0; i < (bench.is_fast() ? 10 : 40); ++i) {
         const PlayedGame game = bench.play(bench.new_match());
         const std::string word = game.choice.text("parity_choice");
         if (!is_game_word(word))
           return fail(game.choice.exchange, game.choice.place + "/parity_choice",
                       "\"even\" or \"odd\"", shown_value(game.choice.message, "parity_choice"));
       }
       return pass();
     },
     {.needs_word = true}},
};

}  // namespace

void add_endurance_checks(PlayerBench& bench, Checks& out) { add_probes(bench, kEndurance, out); }

}  // namespace league::tools::check
