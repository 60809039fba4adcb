#include "tools/check/spar/terminal_game.h"

#include <algorithm>
#include <deque>
#include <iostream>

#include "common/core/counted.h"
#include "common/core/text.h"
#include "player/core/seeded_random.h"

namespace league::tools::check {

using game::kBothSides;
using game::Side;

namespace {

constexpr auto kLeague = "league_play";
constexpr std::string_view kBold = "1";
constexpr std::string_view kDim = "2";
constexpr std::string_view kGreen = "1;32";
constexpr std::string_view kRed = "1;31";
constexpr std::string_view kYellow = "1;33";

std::unique_ptr<core::RandomSource> random_source(const std::optional<std::uint64_t>& seed) {
  if (seed) return std::make_unique<player::SeededRandom>(*seed);
  return std::make_unique<core::CryptoRandom>();
}

/// As many letters of `word` as tell it from the other choices.
std::size_t shortest_beginning(const game::Definition& rules, std::string_view word) {
  for (std::size_t length = 1; length < word.size(); ++length) {
    if (rules.choice_like(word.substr(0, length))) return length;
  }
  return word.size();
}

/// `[e]ven, [o]dd`.
std::string offered(const game::Definition& rules) {
  std::string text;
  for (const std::string_view word : rules.choices()) {
    const std::size_t length = shortest_beginning(rules, word);
    text += text.empty() ? "[" : ", [";
    text.append(word.substr(0, length)).append("]").append(word.substr(length));
  }
  return text;
}

/// What makes a promise recognisable.
std::string beginning(const std::string& digest) { return digest.substr(0, 12) + "..."; }

}  // namespace

core::Result<std::unique_ptr<TerminalGame>> TerminalGame::create(Options options, std::istream& in,
                                                                 std::ostream& out) {
  std::unique_ptr<TerminalGame> game(new TerminalGame(std::move(options), in, out));
  auto strategy = player::make_strategy(game->options_.strategy, game->rules_, *game->random_);
  if (!strategy) return strategy.error();
  game->strategy_ = std::move(*strategy);
  return game;
}

TerminalGame::TerminalGame(Options options, std::istream& in, std::ostream& out)
    : options_(std::move(options)),
      in_(in),
      out_(out),
      rules_(*options_.game),
      random_(random_source(options_.seed)) {}

std::string TerminalGame::painted(std::string_view style, const std::string& text) const {
  if (!options_.is_coloured) return text;
  return "\x1b[" + std::string(style) + "m" + text + "\x1b[0m";
}

void TerminalGame::run() {
  const auto numbers = rules_.numbers();
  out_ << "You play " << painted(kBold, core::counted(options_.matches, "match", "matches"))
       << " against the strategy " << painted(kBold, options_.strategy)
       << ". Both of you choose without seeing the other's choice";
  if (numbers)
    out_ << ",\nthen a number from " << numbers->lowest << " to " << numbers->highest
         << " is drawn";
  if (rules_ == *game::even_odd())
    out_ << ": you win if your choice is right and your opponent's is wrong";
  out_ << ".\n";
  int played = 0;
  while (played < options_.matches && play(played + 1)) ++played;
  show_score(played);
}

bool TerminalGame::play(int number) {
  referee::MatchPlan plan;
  plan.match_id = core::MatchId("R" + std::to_string(number) + "M1");
  plan.draw_seed = random_->bytes<std::tuple_size_v<game::Seed>>();
  plan.draw_commitment = game::draw_commitment(plan.draw_seed, plan.match_id.str());
  plan.seats[Side::kA] = {.player = core::PlayerId("P01"), .has_receipts = true};
  plan.seats[Side::kB] = {.player = core::PlayerId("P02"), .has_receipts = true};

  game::PerSide<player::OpenMatch> hands;
  for (const Side side : kBothSides)
    hands[side] = {.player_id = plan.seats[side].player,
                   .league_id = core::LeagueId(kLeague),
                   .match_id = plan.match_id,
                   .game_type = std::string(rules_.game_type()),
                   .side = side,
                   .opponent_id = plan.seats[game::other(side)].player,
                   .draw_commitment = *plan.draw_commitment};
  // The opponent is bound before the person is asked.
  player::commit(hands[Side::kB],
                 std::string(strategy_({.league_id = core::LeagueId(kLeague),
                                        .match_id = plan.match_id,
                                        .round_id = number,
                                        .opponent_id = plan.seats[Side::kA].player,
                                        .history = history_,
                                        .side = Side::kB})),
                 *random_);
  out_ << '\n'
       << painted(kBold,
                  "Match " + std::to_string(number) + " of " + std::to_string(options_.matches))
       << painted(kDim, "  sealed: the draw " + beginning(*plan.draw_commitment) + ", " +
                            options_.strategy + "'s choice " +
                            beginning(*hands[Side::kB].commitment()))
       << '\n';
  const auto choice = ask();
  if (!choice) return false;
  player::commit(hands[Side::kA], std::string(*choice), *random_);
  referee_match(plan, hands);
  return true;
}

void TerminalGame::referee_match(const referee::MatchPlan& plan,
                                 const game::PerSide<player::OpenMatch>& hands) {
  referee::Match match(rules_, plan);
  std::deque<referee::Effect> effects;
  const auto take = [&](referee::Effects more) {
    effects.insert(effects.end(), more.begin(), more.end());
  };
  take(match.start({}));
  for (; !effects.empty(); effects.pop_front()) {
    const referee::Effect effect = effects.front();
    if (const auto* call = std::get_if<referee::CallPlayer>(&effect)) {
      const player::OpenMatch& hand = hands[call->side];
      referee::Reply reply = referee::JoinAnswer{.match_id = plan.match_id.str(),
                                                 .choice_commitment = hand.commitment()};
      if (call->call == referee::Call::kChooseParity)
        reply = referee::ChoiceAnswer{
            .match_id = plan.match_id.str(), .choice = hand.choice, .choice_nonce = hand.nonce};
      take(match.on_reply(call->id, reply, {}));
    } else if (std::holds_alternative<referee::ReportResult>(effect)) {
      take(match.on_report_accepted());
    } else if (const auto* over = std::get_if<referee::AnnounceGameOver>(&effect)) {
      remember(plan, over->match.result);
      show(plan, over->match);
    }
  }
}

std::optional<std::string_view> TerminalGame::ask() {
  for (;;) {
    out_ << "  " << offered(rules_) << "? " << std::flush;
    std::string line;
    const bool is_read = static_cast<bool>(std::getline(in_, line));
    if (!options_.is_typed || !is_read) out_ << '\n';
    const std::string typed = core::lower_case(core::trimmed(line, " \t\r"));
    if (!is_read || typed == "q" || typed == "quit") return std::nullopt;
    if (auto choice = rules_.choice_like(typed)) return choice;
    out_ << "  Type the letters in brackets and press Enter; q ends the game.\n";
  }
}

void TerminalGame::remember(const referee::MatchPlan& plan, const game::MatchResult& result) {
  const auto winner = game::winner_of(result.outcome);
  const auto points = game::points_of(rules_, result);
  for (const Side side : kBothSides) score_.points[side] += points[side];
  if (winner == Side::kA) ++score_.wins;
  if (!winner) ++score_.draws;
  using player::MatchVerdict;
  history_.add({.league_id = core::LeagueId(kLeague),
                .match_id = plan.match_id,
                .opponent_id = plan.seats[Side::kA].player,
                .verdict = !winner              ? MatchVerdict::kDraw
                           : winner == Side::kB ? MatchVerdict::kWin
                                                : MatchVerdict::kLoss,
                .own_choice = result.choices[Side::kB],
                .opponent_choice = result.choices[Side::kA],
                .drawn_number = result.drawn_number});
}

void TerminalGame::show(const referee::MatchPlan& plan, const referee::RefereedMatch& match) {
  const game::MatchResult& result = match.result;
  const auto winner = game::winner_of(result.outcome);
  out_ << "  you " << painted(kBold, *result.choices[Side::kA]) << ", " << options_.strategy << ' '
       << painted(kBold, *result.choices[Side::kB]);
  if (result.drawn_number)
    out_ << ", the number is " << painted(kBold, std::to_string(*result.drawn_number));
  out_ << ": "
       << (!winner              ? painted(kYellow, "a draw")
           : winner == Side::kA ? painted(kGreen, "you win")
                                : painted(kRed, options_.strategy + " wins"))
       << ", " << score_.points[Side::kA] << " to " << score_.points[Side::kB] << " points\n";
  if (!result.drawn_number) return;
  const auto& nonces = match.bindings.nonces;
  out_ << painted(kDim, "  python3 docs/verify_draw.py " + *plan.draw_commitment + ' ' +
                            core::to_hex(plan.draw_seed) + ' ' + plan.match_id.str() + ' ' +
                            *result.choices[Side::kA] + ' ' + *result.choices[Side::kB] + ' ' +
                            std::to_string(*result.drawn_number) + ' ' + *nonces[Side::kA] + ' ' +
                            *nonces[Side::kB])
       << '\n';
}

void TerminalGame::show_score(int played) const {
  out_ << '\n';
  if (played == 0) {
    out_ << "No match was played.\n";
    return;
  }
  out_ << painted(kBold, core::counted(played, "match", "matches") + ": ") << score_.wins
       << " won, " << score_.draws << " drawn, " << played - score_.wins - score_.draws << " lost; "
       << score_.points[Side::kA] << " to " << score_.points[Side::kB] << " points\n";
  if (rules_.numbers())
    out_ << "The seed of each draw was sealed before you chose. The command below a match checks "
            "that nobody changed it.\n";
}

}  // namespace league::tools::check
