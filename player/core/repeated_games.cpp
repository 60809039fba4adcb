#include "player/core/repeated_games.h"

#include <algorithm>
#include <utility>

#include "player/core/words.h"

namespace league::player {

namespace {

using game::Definition;
using Counts = std::vector<int>;  // by the places of the choices

/// A meeting by the places of both choices.
struct Pair {
  std::size_t own = 0;
  std::size_t theirs = 0;

  bool operator==(const Pair&) const = default;
};

/// Whether all of `remembered` is in `told`, in the same order.
bool contains(const std::vector<Meeting>& told, const std::vector<Meeting>& remembered) {
  auto next = remembered.begin();
  for (const Meeting& one : told)
    if (next != remembered.end() && one == *next) ++next;
  return next == remembered.end();
}

/// The earlier meetings in which both chose words of the game, the oldest first. A player that was
/// away, or has lost its history, is told of more than it remembers; but a referee may lie, so what
/// it tells counts only where it fits the number of this meeting and the player's own memory.
std::vector<Pair> pairs_of(const Definition& game, const StrategyInput& input) {
  std::vector<Meeting> meetings;
  for (const PlayedMatch* one : input.history.meetings_with(input.league_id, input.opponent_id))
    meetings.push_back({*one->own_choice, *one->opponent_choice});
  const bool is_possible = !input.meeting || std::cmp_less(input.told.size(), *input.meeting);
  const bool is_believed =
      input.told.size() > meetings.size() && is_possible && contains(input.told, meetings);
  std::vector<Pair> pairs;
  for (const auto& [own, theirs] : is_believed ? input.told : meetings) {
    const auto mine = game.index_of(own);
    const auto other = game.index_of(theirs);
    if (mine && other) pairs.push_back({*mine, *other});
  }
  return pairs;
}

double average_payoff(const Definition& game, game::Side side) {
  const std::size_t words = game.choices().size();
  double sum = 0;
  for (std::size_t own = 0; own < words; ++own)
    for (std::size_t theirs = 0; theirs < words; ++theirs)
      sum += game.expected_payoff(side, own, theirs);
  return sum / static_cast<double>(words * words);
}

/// The choices with the highest value; values are whole numbers or short fractions of them.
template <typename Value>
Words best_by(const Definition& game, const Value& value_of) {
  constexpr double kEqual = 1e-9;
  Words best;
  double highest = 0;
  for (std::size_t own = 0; own < game.choices().size(); ++own) {
    const double value = value_of(own);
    if (!best.empty() && value < highest - kEqual) continue;
    if (best.empty() || value > highest + kEqual) best.clear();
    highest = best.empty() ? value : highest;
    best.emplace_back(game.choices()[own]);
  }
  return best;
}

/// The choices that bring most against an opponent that chooses as often as `counts` says.
Words best_answers(const Definition& game, game::Side side, const Counts& counts) {
  return best_by(game, [&](std::size_t own) {
    double value = 0;
    for (std::size_t theirs = 0; theirs < counts.size(); ++theirs)
      value += counts[theirs] * game.expected_payoff(side, own, theirs);
    return value;
  });
}

Counts frequencies(const Definition& game, const std::vector<Pair>& pairs) {
  Counts counts(game.choices().size());
  for (const Pair& one : pairs) ++counts[one.theirs];
  return counts;
}

std::string_view first_choice(const Definition& game) { return game.choices().front(); }

}  // namespace

std::string_view tit_for_tat(const Definition& game, core::RandomSource& /*random*/,
                             const StrategyInput& input) {
  const auto pairs = pairs_of(game, input);
  return pairs.empty() ? first_choice(game) : game.choices()[pairs.back().theirs];
}

std::string_view win_stay_lose_shift(const Definition& game, core::RandomSource& /*random*/,
                                     const StrategyInput& input) {
  const auto pairs = pairs_of(game, input);
  if (pairs.empty()) return first_choice(game);
  const auto [own, theirs] = pairs.back();
  const bool was_good =
      game.expected_payoff(input.side, own, theirs) >= average_payoff(game, input.side);
  return was_good ? std::string_view(game.choices()[own]) : word_after(game, own);
}

std::string_view grim(const Definition& game, core::RandomSource& random,
                      const StrategyInput& input) {
  const auto pairs = pairs_of(game, input);
  if (std::ranges::all_of(pairs, [](const Pair& one) { return one.theirs == 0; }))
    return first_choice(game);
  return any_of(best_by(game,
                        [&](std::size_t own) {
                          double most = 0;
                          for (std::size_t theirs = 0; theirs < game.choices().size(); ++theirs)
                            most = std::max(most,
                                            game.expected_payoff(other(input.side), theirs, own));
                          return -most;
                        }),
                random);
}

std::string_view by_opponents_frequency(const Definition& game, core::RandomSource& random,
                                        const StrategyInput& input) {
  const auto pairs = pairs_of(game, input);
  if (pairs.empty()) return any_of(all_words(game), random);
  return any_of(best_answers(game, input.side, frequencies(game, pairs)), random);
}

std::string_view markov(const Definition& game, core::RandomSource& random,
                        const StrategyInput& input) {
  const auto pairs = pairs_of(game, input);
  Counts next(game.choices().size());
  for (std::size_t i = 1; i < pairs.size(); ++i) {
    if (pairs[i - 1] == pairs.back()) ++next[pairs[i].theirs];
  }
  // The last meeting was the first of its kind: then all that the opponent ever chose counts.
  if (std::ranges::all_of(next, [](int count) { return count == 0; }))
    return by_opponents_frequency(game, random, input);
  return any_of(best_answers(game, input.side, next), random);
}

}  // namespace league::player
