#include "game/registry.h"

#include "common/core/text.h"
#include "game/even_odd/even_odd.h"

namespace league::game {

core::Result<const Rules*> Registry::find(std::string_view game_type) const {
  for (const Rules* rules : games_) {
    if (rules->game_type() == game_type) return rules;
  }
  std::string known;
  for (const std::string& name : names()) known += (known.empty() ? "" : ", ") + name;
  return core::Error{core::ErrorCode::kGameTypeNotSupported,
                     "game_type \"" + core::shown(game_type) +
                         "\" is not a game that is played here; known games: " + known + ".",
                     "/game_type"};
}

std::vector<std::string> Registry::names() const {
  std::vector<std::string> names;
  for (const Rules* rules : games_) names.emplace_back(rules->game_type());
  return names;
}

const Registry& standard_games() {
  static const even_odd::EvenOdd kEvenOdd;
  static const Registry kGames({&kEvenOdd});
  return kGames;
}

}  // namespace league::game
