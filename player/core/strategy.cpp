#include "player/core/strategy.h"

#include <algorithm>
#include <array>

#include "player/core/repeated_games.h"
#include "player/core/words.h"

namespace league::player {

namespace {

using game::Definition;
/// How often each choice of the game occurs among `words`; other words are not counted.
template <typename Container>
std::vector<int> count_words(const Definition& rules, const Container& words) {
  std::vector<int> counts(rules.choices().size());
  for (const auto& word : words) {
    if (const auto index = rules.index_of(word)) ++counts[*index];
  }
  return counts;
}

/// The choices that occur most often; all choices if none occurs.
Words most_frequent(const Definition& rules, const std::vector<int>& counts) {
  const int highest = *std::ranges::max_element(counts);
  Words words;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == highest) words.push_back(rules.choices()[i]);
  }
  return words;
}

/// A random choice.
std::string_view at_random(const Definition& rules, core::RandomSource& random,
                           const StrategyInput& /*input*/) {
  return any_of(all_words(rules), random);
}

/// The choice that follows the previous one; the game's first choice at the beginning.
std::string_view alternate(const Definition& rules, core::RandomSource& /*random*/,
                           const StrategyInput& input) {
  const auto own = input.history.last_own_choice(input.league_id);
  const auto last = own ? rules.index_of(*own) : std::nullopt;
  return last ? word_after(rules, *last) : rules.choices().front();
}

/// The choice that was drawn more often, which has no effect in theory, since draws are
/// independent; in a game that draws nothing the best answer to what the opponent has chosen most
/// often.
std::string_view by_frequency(const Definition& rules, core::RandomSource& random,
                              const StrategyInput& input) {
  if (!rules.numbers()) return by_opponents_frequency(rules, random, input);
  Words kinds;
  for (int number : input.history.drawn_numbers(input.league_id)) {
    if (const auto kind = rules.kind_of(number)) kinds.push_back(*kind);
  }
  return any_of(most_frequent(rules, count_words(rules, kinds)), random);
}

/// A choice that differs from the opponent's predicted one. Nobody can foresee the number, but in
/// Even/Odd two different choices give 3 points to one of the two and equal choices give 1 to each:
/// 1.5 points on average against 1.
std::string_view opposite(const Definition& rules, core::RandomSource& random,
                          const StrategyInput& input) {
  Words words = all_words(rules);
  const auto theirs = input.history.choices_of(input.league_id, input.opponent_id);
  if (const auto next = predict_next(rules, theirs)) std::erase(words, *next);
  return any_of(words, random);
}

struct NamedStrategy {
  std::string_view name;
  std::string_view (*choose)(const Definition&, core::RandomSource&, const StrategyInput&);
};

/// All strategies except the constant ones, which are the choices of a game. To add a strategy, add
/// a line.
constexpr std::array<NamedStrategy, 8> kStrategies = {{{"random", at_random},
                                                       {"alternate", alternate},
                                                       {"frequency", by_frequency},
                                                       {"opposite", opposite},
                                                       {"tit_for_tat", tit_for_tat},
                                                       {"win_stay_lose_shift", win_stay_lose_shift},
                                                       {"grim", grim},
                                                       {"markov", markov}}};

/// Whether each choice is the one that follows the choice before it.
bool goes_in_order(const Definition& rules, const std::vector<std::string_view>& choices) {
  return std::ranges::adjacent_find(choices, [&](const auto& before, const auto& after) {
           const auto index = rules.index_of(before);
           return !index || word_after(rules, *index) != after;
         }) == choices.end();
}

}  // namespace

std::optional<std::string_view> predict_next(const Definition& rules,
                                             const std::vector<std::string_view>& choices) {
  if (choices.empty()) return std::nullopt;
  const auto last = rules.index_of(choices.back());
  if (choices.size() >= 2 && last && goes_in_order(rules, choices)) return word_after(rules, *last);
  const Words likely = most_frequent(rules, count_words(rules, choices));
  if (likely.size() != 1) return std::nullopt;
  return likely.front();
}

core::Result<Strategy> make_strategy(std::string_view name, const Definition& rules,
                                     core::RandomSource& random) {
  for (const NamedStrategy& entry : kStrategies) {
    if (entry.name != name) continue;
    return Strategy([&rules, &random, choose = entry.choose](const StrategyInput& input) {
      return choose(rules, random, input);
    });
  }
  if (const auto index = rules.index_of(name))
    return Strategy(
        [&word = rules.choices()[*index]](const StrategyInput&) { return std::string_view(word); });
  std::string known;
  for (std::string_view one : known_strategies(rules)) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "strategy \"" + std::string(name.substr(0, 64)) +
                         "\" is unknown; known strategies: " + known + ".",
                     "/strategy"};
}

std::vector<std::string_view> known_strategies(const Definition& rules) {
  std::vector<std::string_view> names;
  for (const NamedStrategy& entry : kStrategies) names.push_back(entry.name);
  names.insert(names.begin() + 1, rules.choices().begin(), rules.choices().end());
  return names;
}

std::vector<std::string_view> known_strategies() { return known_strategies(*game::even_odd()); }

}  // namespace league::player
