#include "tools/check/program/commands.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>

#include "common/agent/host/terminal.h"
#include "common/core/counted.h"
#include "tools/check/game_truth.h"
#include "tools/check/spar/spar.h"
#include "tools/check/spar/terminal_game.h"
#include "tools/league/client/bus_link.h"
#include "tools/league/up/table_text.h"

namespace league::tools::check {
namespace {

using tools::fail;  // check::fail makes a verdict

struct SparOptions {
  std::string bot;
  std::string against = "random";
  std::size_t matches = 100;
  std::uint32_t limit_ms = 5000;
  std::uint32_t retry_ms = 2000;
  std::string mode = "open";
  bool is_narrated = false;
  std::string game = "even_odd";
  agent::bus::BusOptions bus = {};
};

struct OwnGame {
  bool is_chosen = false;
  TerminalGame::Options game;
};

struct Score {
  std::size_t wins = 0;
  std::size_t draws = 0;
  std::size_t technical = 0;
};

double at_share(std::vector<std::chrono::nanoseconds> times, double share) {
  if (times.empty()) return 0;
  std::ranges::sort(times);
  const auto last = static_cast<double>(times.size() - 1);
  return static_cast<double>(times[static_cast<std::size_t>(share * last)].count()) / 1e6;
}

void print_side(const SparSide& side, const Score& score, std::size_t draws, std::size_t matches) {
  const double points = static_cast<double>(score.wins) + static_cast<double>(draws) / 2;
  const auto [low, high] = wilson_interval(points, matches);
  std::cout << safe_text(side.name) << "\n  wins " << score.wins << ", draws " << draws
            << ", losses " << matches - score.wins - draws << " (" << score.technical
            << " for failures of its own)\n  share of wins (a draw counts half) "
            << short_number(points / static_cast<double>(matches)) << ", with 95 % confidence "
            << short_number(low) << " to " << short_number(high) << "\n";
  if (side.latencies.empty()) {
    std::cout << "  no answers\n";
  } else {
    std::cout << "  latency of "
              << core::counted(static_cast<long>(side.latencies.size()), "answer") << ": median "
              << short_number(at_share(side.latencies, 0.5)) << " ms, 95 % below "
              << short_number(at_share(side.latencies, 0.95)) << " ms, longest "
              << short_number(at_share(side.latencies, 1.0)) << " ms\n";
  }
  for (const auto& [reason, losses] : side.losses) {
    std::cout << "  lost by " << reason << ": " << losses.count;
    if (!losses.last.empty()) std::cout << " (the last time: " << safe_text(losses.last) << ')';
    std::cout << '\n';
  }
}

void count(const SparMatch& match, std::array<Score, 2>& scores) {
  for (std::size_t at = 0; at < scores.size(); ++at) {
    if (match.winner == at) ++scores.at(at).wins;
    if (match.is_draw) ++scores.at(at).draws;
    if (match.is_technical.at(at)) ++scores.at(at).technical;
  }
}

int spar(const SparOptions& options) {
  if (auto known = set_tested_game(options.game); !known) return fail(known.error());
  auto wire = Wire::open(options.bus, is_on_bus(options.bot) || is_on_bus(options.against));
  if (!wire) return fail(wire.error());
  const auto mode = options.mode == "strict" ? envelope::Mode::kStrict : envelope::Mode::kOpen;
  auto one = open_side(**wire, options.bot, "P01", mode);
  if (!one) return fail(one.error());
  auto two = open_side(**wire, options.against, "P02", mode);
  if (!two) return fail(two.error());
  TrialLeague::Options limits;
  limits.mode = mode;
  limits.league_id = kSparLeague;
  limits.invitation_limit = milliseconds(options.limit_ms);
  limits.choice_limit = milliseconds(options.limit_ms);
  limits.retry_delay = milliseconds(options.retry_ms);
  limits.bus = &(*wire)->seats().caller();
  auto league = TrialLeague::open(limits);
  if (!league) return fail(league.error());
  Sparring sparring({std::move(one->side), std::move(two->side)}, std::move(*league));
  std::array<Score, 2> scores;
  for (std::size_t i = 0; i < options.matches; ++i) {
    const SparMatch match = sparring.play();
    count(match, scores);
    if (!options.is_narrated) continue;
    for (const std::string& line : match.story) std::cout << safe_text(line) << '\n';
  }
  for (std::size_t at = 0; at < 2; ++at)
    print_side(sparring.side(at), scores.at(at), scores.at(at).draws, options.matches);
  return 0;
}

constexpr const char* kBotHelp =
    "a shell command that starts the bot, in which {manager} is replaced by the URL at which it "
    "registers and {port} by a free port; or the endpoint of a bot that accepts calls without "
    "credentials; or a strategy of our player (random, opposite, a word of the game, …; "
    "docs/games.md), "
    "or one of its misbehaviours (slow:MS, silent, crash, garbage, invalid, wrong-match, no-token, "
    "huge, bad-commitment, bad-nonce, no-nonce, other-choice)";

void add_limits(CLI::App& command, SparOptions& options) {
  command.add_option("--game", options.game, "the game, by its name or file (even_odd)");
  command.add_option("--limit", options.limit_ms, "milliseconds for each answer (5000)")
      ->check(CLI::Range(10U, 600'000U));
  command.add_option("--retry", options.retry_ms, "milliseconds between two attempts (2000)")
      ->check(CLI::Range(1U, 600'000U));
  command
      .add_option(
          "--mode", options.mode,
          "open: deviations of bots in the wild are tolerated, as a league does by default; "
          "strict: they are not")
      ->check(CLI::IsMember({"open", "strict"}));
  add_bus_options(command, options.bus);
}

/// `--me` and its options, which go with neither bots nor their limits.
void add_own_game(CLI::App& command, OwnGame& own) {
  const auto others = command.get_options([&](const CLI::Option* option) {
    return option != command.get_help_ptr() && !option->check_lname("game");
  });
  auto* me = command.add_flag("--me", own.is_chosen,
                              "you play in this terminal, against a strategy of our player");
  for (CLI::Option* other : others) me->excludes(other);
  command
      .add_option("--against", own.game.strategy,
                  "with --me: the strategy of our player (random; docs/games.md)")
      ->needs(me);
  command.add_option("--matches", own.game.matches, "with --me: number of matches (10)")
      ->check(CLI::Range(1, 1'000'000))
      ->needs(me);
  command.add_option("--seed", own.game.seed, "with --me: repeats strategy and draws, for tests")
      ->needs(me);
}

int play_myself(const std::string& game, TerminalGame::Options options) {
  if (auto known = set_tested_game(game); !known) return fail(known.error());
  options.game = tested_game();
  options.is_coloured = agent::host::may_colour(STDOUT_FILENO);
  options.is_typed = ::isatty(STDIN_FILENO) == 1;
  auto match = TerminalGame::create(std::move(options), std::cin, std::cout);
  if (!match) return fail(match.error());
  (*match)->run();
  return 0;
}

void add_play_command(CLI::App& app, std::function<int()>& chosen) {
  auto once = std::make_shared<SparOptions>();
  once->matches = 1;
  once->is_narrated = true;
  once->against.clear();
  auto own = std::make_shared<OwnGame>();
  CLI::App* command = app.add_subcommand(
      "play", "play yourself, or play one match between two bots and print what happens");
  command->add_option("BOT", once->bot, kBotHelp);
  command->add_option("OTHER", once->against, "the other bot, in the same form as BOT");
  add_limits(*command, *once);
  add_own_game(*command, *own);
  command->footer(
      "Examples:\n"
      "  league play --me\n"
      "  league play \"python3 bot.py --manager {manager} --port {port}\" frequency\n"
      "Exit codes: 0 played, 2 wrong usage or a bot could not be reached.");
  agent::host::when_given(*command, chosen, [once, own] {
    if (own->is_chosen) return play_myself(once->game, own->game);
    if (once->against.empty()) return fail("name two bots, or play yourself with --me");
    return spar(*once);
  });
}

}  // namespace

void add_spar_commands(CLI::App& app, std::function<int()>& chosen) {
  auto options = std::make_shared<SparOptions>();
  CLI::App* spar_command = app.add_subcommand("spar", "play many matches between two bots");
  spar_command->add_option("BOT", options->bot, kBotHelp)->required();
  spar_command->add_option("--against", options->against,
                           "the other bot, in the same form as BOT (random)");
  spar_command->add_option("--matches", options->matches, "number of matches (100)")
      ->check(CLI::Range(1U, 1'000'000U));
  add_limits(*spar_command, *options);
  spar_command->footer(
      "Uses the rules, limits, retries and draws of a referee, without a league.\n"
      "Examples:\n"
      "  league spar \"python3 bot.py --manager {manager} --port {port}\" --against frequency\n"
      "  league spar http://localhost:8101/mcp --against opposite --matches 1000\n"
      "Exit codes: 0 the matches were played, 2 wrong usage or a bot could not be reached.");
  agent::host::when_given(*spar_command, chosen, [options] { return spar(*options); });

  add_play_command(app, chosen);
}

}  // namespace league::tools::check
