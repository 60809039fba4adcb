#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "game/definition.h"

namespace league::game {

using SharedDefinition = std::shared_ptr<const Definition>;

/// The games that a program knows, by name. Not thread-safe while `learn` is called.
class Games {
 public:
  /// Knows no game.
  Games() = default;
  /// The games that come along: the files of `games/`, Even/Odd first.
  [[nodiscard]] static const Games& standard();

  /// The game called `game_type`; kGameTypeNotSupported, with the known names, otherwise.
  [[nodiscard]] core::Result<SharedDefinition> find(std::string_view game_type) const;
  /// For `game_types` of a registration.
  [[nodiscard]] std::vector<std::string> names() const;
  /// Adds a game. Fails with kGameTypeNotSupported if another one of this name is known: a name
  /// stands for one game only.
  [[nodiscard]] core::Result<void> learn(Definition definition);

 private:
  std::vector<SharedDefinition> games_;
};

/// The game of leagues that name none: it is older than game files. Lives as long as the process.
[[nodiscard]] const SharedDefinition& even_odd();

}  // namespace league::game
