#include "referee/rules/rules_registry.h"

#include <array>

#include "referee/rules/even_odd.h"

namespace league::referee::rules {

namespace {

/// The one list of games. A new game is one more line here.
const auto& all_rules() {
  static const EvenOdd even_odd;
  static const std::array<const RulesModule*, 1> all = {&even_odd};
  return all;
}

}  // namespace

core::Result<const RulesModule*> find_rules(std::string_view game_type) {
  for (const RulesModule* rules : all_rules()) {
    if (rules->game_type() == game_type) return rules;
  }
  std::string known;
  for (const std::string& name : known_game_types()) known += (known.empty() ? "" : ", ") + name;
  return core::Error{core::ErrorCode::kGameTypeNotSupported,
                     "game_type \"" + std::string(game_type.substr(0, 64)) +
                         "\" is not a game of this referee; it knows: " + known + ".",
                     "/game_type"};
}

std::vector<std::string> known_game_types() {
  std::vector<std::string> names;
  for (const RulesModule* rules : all_rules()) names.emplace_back(rules->game_type());
  return names;
}

}  // namespace league::referee::rules
