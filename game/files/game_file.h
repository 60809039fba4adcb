#pragma once

#include <string>

#include "game/games.h"

namespace league::game::files {

/// Reads a game's file of at most 64 KiB. An error names the file, the place in it, and the rule
/// that is broken.
[[nodiscard]] core::Result<Definition> read_game_file(const std::string& file);

/// Learns the definition that a manager has sent, a JSON text; empty: it has sent none. Fails with
/// kGameTypeNotSupported if it is no game, or if `games` knows another one of this name.
[[nodiscard]] core::Result<void> learn_game(Games& games, std::string_view definition);

/// Whether an option names a file of a game (it has a `/` or ends in `.json`) and not a known game.
[[nodiscard]] bool is_game_file(std::string_view name_or_file);

/// The game of an option: a name that `games` knows, or a file, which `games` learns.
[[nodiscard]] core::Result<SharedDefinition> find_game(Games& games,
                                                       const std::string& name_or_file);

}  // namespace league::game::files
