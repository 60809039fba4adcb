#include "game/files/game_file.h"

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "common/schema/parse_json.h"

namespace league::game::files {

namespace {

constexpr std::size_t kLongestFile = 64U << 10U;

}  // namespace

core::Result<Definition> read_game_file(const std::string& file) {
  const auto failed = [&file](const std::string& why) {
    return core::Error{core::ErrorCode::kInvalidFieldValue, file + ": " + why, ""};
  };
  std::ifstream in(file, std::ios::binary);
  if (!in) return failed("cannot be read");
  std::string text(kLongestFile + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kLongestFile) return failed("is longer than 64 KiB");
  const auto json = schema::parse_json(text);
  if (!json) return failed(json.error().message);
  auto definition = Definition::read(*json);
  if (!definition) return failed(definition.error().message);
  return definition;
}

core::Result<void> learn_game(Games& games, std::string_view definition) {
  if (definition.empty()) return {};
  const auto failed = [](const std::string& why) {
    return core::Error{core::ErrorCode::kGameTypeNotSupported,
                       "the game of the league manager is not playable here: " + why, "/game"};
  };
  const auto json = schema::parse_json(definition);
  if (!json) return failed(json.error().message);
  auto read = Definition::read(*json);
  if (!read) return failed(read.error().message);
  if (auto learnt = games.learn(std::move(*read)); !learnt) return failed(learnt.error().message);
  return {};
}

bool is_game_file(std::string_view name_or_file) {
  return name_or_file.find('/') != std::string_view::npos || name_or_file.ends_with(".json");
}

core::Result<SharedDefinition> find_game(Games& games, const std::string& name_or_file) {
  if (!is_game_file(name_or_file)) return games.find(name_or_file);
  auto definition = read_game_file(name_or_file);
  if (!definition) return definition.error();
  const std::string name = definition->game_type();
  if (auto learnt = games.learn(std::move(*definition)); !learnt) {
    core::Error error = learnt.error();
    error.message = name_or_file + ": " + error.message;
    return error;
  }
  return games.find(name);
}

}  // namespace league::game::files
