#include "game/games.h"

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "common/core/text.h"
#include "game/game_files.h"

namespace league::game {

core::Result<SharedDefinition> Games::find(std::string_view game_type) const {
  for (const SharedDefinition& one : games_) {
    if (one->game_type() == game_type) return one;
  }
  std::string known;
  for (const std::string& name : names()) known += (known.empty() ? "" : ", ") + name;
  return core::Error{core::ErrorCode::kGameTypeNotSupported,
                     "game_type \"" + core::shown(game_type) +
                         "\" is not a game that is played here; known games: " + known + ".",
                     "/game_type"};
}

std::vector<std::string> Games::names() const {
  std::vector<std::string> names;
  for (const SharedDefinition& one : games_) names.push_back(one->game_type());
  return names;
}

core::Result<void> Games::learn(Definition definition) {
  if (const auto known = find(definition.game_type())) {
    if (**known == definition) return {};
    return core::Error{core::ErrorCode::kGameTypeNotSupported,
                       "two games are called " + definition.game_type() +
                           " and differ: give one of them another name, or use the same file",
                       "/game_type"};
  }
  games_.push_back(std::make_shared<const Definition>(std::move(definition)));
  return {};
}

const Games& Games::standard() {
  static const Games kGames = [] {
    Games games;
    for (const EmbeddedFile& file : game_files()) {
      auto read = Definition::read(nlohmann::json::parse(file.text));
      if (!read) throw std::logic_error(std::string(file.name) + read.error().message);
      if (auto known = games.learn(std::move(*read)); !known)
        throw std::logic_error(known.error().message);
    }
    return games;
  }();
  return kGames;
}

const SharedDefinition& even_odd() {
  static const SharedDefinition kEvenOdd = *Games::standard().find("even_odd");
  return kEvenOdd;
}

}  // namespace league::game
