#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/envelope/message_schemas.h"

namespace league::envelope::testing {

/// A golden message: `game_over.technical_loss` of tests/golden/messages.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(std::string(LEAGUE_SOURCE_DIR) + "/tests/golden/messages/" + name + ".json");
  return nlohmann::json::parse(file);
}

/// All golden messages by name.
inline std::map<std::string, nlohmann::json> all_golden() {
  std::map<std::string, nlohmann::json> all;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LEAGUE_SOURCE_DIR) +
                                                               "/tests/golden/messages")) {
    std::string name = entry.path().stem().string();
    all.emplace(name, golden(name));
  }
  return all;
}

/// The built-in schemas, compiled once for all tests.
inline const MessageSchemas& schemas() {
  static const MessageSchemas kSchemas = *MessageSchemas::load();
  return kSchemas;
}

}  // namespace league::envelope::testing
