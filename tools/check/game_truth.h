#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "game/draw.h"

namespace league::tools::check {

/// The words of Even/Odd, 0 and 1; taken from the rules of the game.
[[nodiscard]] std::string game_word(std::size_t place);
[[nodiscard]] bool is_game_word(const std::string& text);

/// A match of Even/Odd with all its secrets. The arrays hold the bot under test first, whichever
/// side it plays; an empty text is a missing commitment or nonce.
struct GameTruth {
  std::string match_id;
  std::array<std::string, 2> players;
  std::array<std::string, 2> choices;
  std::array<std::string, 2> commitments;
  std::array<std::string, 2> nonces;
  game::Seed seed{};
  bool is_first_a = true;
};

/// The fields of GAME_OVER that follow from `truth`: `game_result`, `reason`, `draw_proof`,
/// `draw_version`, `choice_commitments`, `choice_nonces`. Pure. Source: protocol §4, message 10.
[[nodiscard]] nlohmann::json game_over_fields(const GameTruth& truth);

}  // namespace league::tools::check
