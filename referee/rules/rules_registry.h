#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "referee/rules/rules_module.h"

namespace league::referee::rules {

/// The rules of `game_type`, which live as long as the process; kGameTypeNotSupported with the
/// known names otherwise. Thread-safe.
[[nodiscard]] core::Result<const RulesModule*> find_rules(std::string_view game_type);

/// Every game that this referee knows, for `referee_meta.game_types`.
[[nodiscard]] std::vector<std::string> known_game_types();

}  // namespace league::referee::rules
