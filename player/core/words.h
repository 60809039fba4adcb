#pragma once

#include <string_view>
#include <vector>

#include "common/core/random_source.h"
#include "game/definition.h"

// What strategies do with the words of a game. Pure but for the random source.
namespace league::player {

using Words = std::vector<std::string_view>;

[[nodiscard]] inline Words all_words(const game::Definition& game) {
  return {game.choices().begin(), game.choices().end()};
}

/// One of `words`, each equally likely; there are 1 to 256.
[[nodiscard]] inline std::string_view any_of(const Words& words, core::RandomSource& random) {
  if (words.size() == 1) return words.front();
  const std::size_t bound = 256 - 256 % words.size();
  for (;;) {
    const std::size_t byte = random.bytes<1>()[0];
    if (byte < bound) return words[byte % words.size()];
  }
}

/// The choice that follows `index` in the order of the game; the first one follows the last.
[[nodiscard]] inline std::string_view word_after(const game::Definition& game, std::size_t index) {
  return game.choices()[(index + 1) % game.choices().size()];
}

}  // namespace league::player
