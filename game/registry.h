#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "game/rules.h"

namespace league::game {

/// The games that a program knows. Immutable once built, so thread-safe; the rules outlive it.
class Registry {
 public:
  explicit Registry(std::vector<const Rules*> games) : games_(std::move(games)) {}

  /// The rules of `game_type`; kGameTypeNotSupported, with the known names, otherwise.
  [[nodiscard]] core::Result<const Rules*> find(std::string_view game_type) const;
  /// For `game_types` of a registration.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<const Rules*> games_;
};

/// Every game of this product. Lives as long as the process.
[[nodiscard]] const Registry& standard_games();

}  // namespace league::game
