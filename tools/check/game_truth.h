#pragma once

#include <array>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "game/draw.h"
#include "game/games.h"

namespace league::tools::check {

/// The game in which bots are checked: Even/Odd, unless the program's option names another one,
/// once and before anything is checked.
[[nodiscard]] const game::SharedDefinition& tested_game();
/// Sets it to the game of an option: a name, or a file.
[[nodiscard]] core::Result<void> set_tested_game(const std::string& name_or_file);
/// The file that names it; empty for a game that comes along.
[[nodiscard]] const std::string& file_of_tested_game();
/// Its first words, 0 and 1.
[[nodiscard]] std::string game_word(std::size_t place);
[[nodiscard]] bool is_game_word(const std::string& text);
/// `context.game` of a call: the words, and the first of one meeting.
[[nodiscard]] nlohmann::json game_context();

/// A match of that game with all its secrets. The arrays hold the bot under test first, whichever
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
/// The points of both players by their ids: `score` of a report.
[[nodiscard]] nlohmann::json score_of(const GameTruth& truth);
/// Another `drawn_number` than the true one: a number where the game draws none.
[[nodiscard]] int false_number(const nlohmann::json& drawn_number);

}  // namespace league::tools::check
