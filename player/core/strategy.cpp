#include "player/core/strategy.h"

#include <algorithm>
#include <array>

namespace league::player {

namespace {

using game::Rules;
using Words = std::vector<std::string_view>;

Words all_words(const Rules& rules) { return {rules.choices().begin(), rules.choices().end()}; }

/// One of `words`, each equally likely; there are 1 to 256.
std::string_view any_of(const Words& words, core::RandomSource& random) {
  if (words.size() == 1) return words.front();
  const std::size_t bound = 256 - 256 % words.size();
  for (;;) {
    const std::size_t byte = random.bytes<1>()[0];
    if (byte < bound) return words[byte % words.size()];
  }
}

/// The choice that follows `index` in the order of the game; the first one follows the last.
std::string_view word_after(const Rules& rules, std::size_t index) {
  return rules.choices()[(index + 1) % rules.choices().size()];
}

/// How often each choice of the game occurs among `words`; other words are not counted.
template <typename Container>
std::vector<int> count_words(const Rules& rules, const Container& words) {
  std::vector<int> counts(rules.choices().size());
  for (const auto& word : words) {
    if (const auto index = rules.index_of(word)) ++counts[*index];
  }
  return counts;
}

/// The choices that occur most often; all choices if none occurs.
Words most_frequent(const Rules& rules, const std::vector<int>& counts) {
  const int highest = *std::ranges::max_element(counts);
  Words words;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == highest) words.push_back(rules.choices()[i]);
  }
  return words;
}

/// A random choice.
std::string_view at_random(const Rules& rules, core::RandomSource& random,
                           const StrategyInput& /*input*/) {
  return any_of(all_words(rules), random);
}

/// The choice that follows the previous one; the game's first choice at the beginning.
std::string_view alternate(const Rules& rules, core::RandomSource& /*random*/,
                           const StrategyInput& input) {
  const auto own = input.history.own_choices(input.league_id);
  const auto last = own.empty() ? std::nullopt : rules.index_of(own.back());
  return last ? word_after(rules, *last) : rules.choices().front();
}

/// The choice that was drawn more often. It has no effect in theory, since draws are independent.
std::string_view by_frequency(const Rules& rules, core::RandomSource& random,
                              const StrategyInput& input) {
  Words kinds;
  for (int number : input.history.drawn_numbers(input.league_id)) {
    if (const auto kind = rules.kind_of(number)) kinds.push_back(*kind);
  }
  return any_of(most_frequent(rules, count_words(rules, kinds)), random);
}

/// A choice that differs from the opponent's predicted one. Nobody can foresee the number, but in
/// Even/Odd two different choices give 3 points to one of the two and equal choices give 1 to each:
/// 1.5 points on average against 1.
std::string_view opposite(const Rules& rules, core::RandomSource& random,
                          const StrategyInput& input) {
  Words words = all_words(rules);
  const auto theirs = input.history.choices_of(input.league_id, input.opponent_id);
  if (const auto next = predict_next(rules, theirs)) std::erase(words, *next);
  return any_of(words, random);
}

struct NamedStrategy {
  std::string_view name;
  std::string_view (*choose)(const Rules&, core::RandomSource&, const StrategyInput&);
};

/// All strategies except the constant ones, which are the choices of a game. To add a strategy, add
/// a line.
constexpr std::array<NamedStrategy, 4> kStrategies = {{{"random", at_random},
                                                       {"alternate", alternate},
                                                       {"frequency", by_frequency},
                                                       {"opposite", opposite}}};

/// Whether each choice is the one that follows the choice before it.
bool goes_in_order(const Rules& rules, const std::vector<std::string_view>& choices) {
  return std::ranges::adjacent_find(choices, [&](const auto& before, const auto& after) {
           const auto index = rules.index_of(before);
           return !index || word_after(rules, *index) != after;
         }) == choices.end();
}

}  // namespace

std::optional<std::string_view> predict_next(const Rules& rules,
                                             const std::vector<std::string_view>& choices) {
  if (choices.empty()) return std::nullopt;
  const auto last = rules.index_of(choices.back());
  if (choices.size() >= 2 && last && goes_in_order(rules, choices)) return word_after(rules, *last);
  const Words likely = most_frequent(rules, count_words(rules, choices));
  if (likely.size() != 1) return std::nullopt;
  return likely.front();
}

core::Result<Strategy> make_strategy(std::string_view name, const Rules& rules,
                                     core::RandomSource& random) {
  for (const NamedStrategy& entry : kStrategies) {
    if (entry.name != name) continue;
    return Strategy([&rules, &random, choose = entry.choose](const StrategyInput& input) {
      return choose(rules, random, input);
    });
  }
  if (const auto index = rules.index_of(name))
    return Strategy([word = rules.choices()[*index]](const StrategyInput&) { return word; });
  std::string known;
  for (std::string_view one : known_strategies(rules)) {
    known += (known.empty() ? "" : ", ") + std::string(one);
  }
  return core::Error{core::ErrorCode::kInvalidFieldValue,
                     "strategy \"" + std::string(name.substr(0, 64)) +
                         "\" is unknown; known strategies: " + known + ".",
                     "/strategy"};
}

std::vector<std::string_view> known_strategies(const Rules& rules) {
  std::vector<std::string_view> names;
  for (const NamedStrategy& entry : kStrategies) names.push_back(entry.name);
  names.insert(names.begin() + 1, rules.choices().begin(), rules.choices().end());
  return names;
}

std::vector<std::string_view> known_strategies() {
  const auto& games = game::standard_games();
  return known_strategies(**games.find(games.names().front()));
}

}  // namespace league::player
