// The documents say what the code does: tables that stand in both are compared here.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/agent/runtime/settings.h"
#include "common/core/error_code.h"
#include "common/envelope/leniency.h"
#include "common/envelope/message_type.h"

namespace league {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(std::string(LEAGUE_SOURCE_DIR) + "/" + path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string role_list(envelope::Roles roles) {
  std::string text;
  for (auto role :
       {envelope::Role::kLeagueManager, envelope::Role::kReferee, envelope::Role::kPlayer}) {
    if (!roles.contains(role)) continue;
    if (!text.empty()) text += ", ";
    text += role == envelope::Role::kLeagueManager ? "manager" : envelope::role_name(role);
  }
  return text;
}

std::string message_table() {
  std::stringstream table;
  table << "| # | message | from | to | method | token | answered by | time limit "
           "|\n|---|---|---|---|---|---|---|---|\n";
  for (const auto& row : envelope::all_messages()) {
    table << "| " << static_cast<int>(row.type) << " | " << row.wire_name << " | "
          << role_list(row.senders) << " | " << role_list(row.receivers) << " | "
          << (row.method.empty() ? "(reply)" : "`" + std::string(row.method) + "`") << " | "
          << (row.token_required ? "yes" : "no") << " | "
          << (row.reply            ? envelope::wire_name(*row.reply)
              : row.method.empty() ? ""
                                   : "acknowledgement")
          << " | ";
    if (row.time_limit.count() > 0)
      table << row.time_limit.count() / 1000 << " s" << (row.best_effort ? ", best effort" : "");
    table << " |\n";
  }
  return table.str();
}

std::string error_table() {
  std::stringstream table;
  table << "| code | name | meaning |\n|---|---|---|\n";
  for (const auto& row : core::all_errors()) {
    table << "| " << row.wire_code << " | " << row.name << " | " << row.description
          << (row.retryable ? " (the call may be tried again)" : "") << " |\n";
  }
  return table.str();
}

TEST(Documents, TheProtocolsMessageTableIsTheCodes) {
  EXPECT_NE(read("docs/protocol.md").find(message_table()), std::string::npos) << message_table();
}

TEST(Documents, TheProtocolsErrorTableIsTheCodes) {
  EXPECT_NE(read("docs/protocol.md").find(error_table()), std::string::npos) << error_table();
}

TEST(Documents, EveryLeniencyIsExplained) {
  auto text = read("docs/protocol.md");
  for (auto leniency : envelope::all_leniencies()) {
    std::string name = "`" + std::string(envelope::leniency_name(leniency)) + "`";
    EXPECT_NE(text.find(name), std::string::npos) << name << " is not in docs/protocol.md";
  }
}

TEST(Documents, EverySettingIsExplained) {
  auto text = read("docs/settings.md");
  auto settings = agent::runtime::to_json(agent::runtime::Settings{});
  for (const auto& [section, keys] : settings.items()) {
    EXPECT_NE(text.find("`" + section + "`"), std::string::npos)
        << section << " is not in docs/settings.md";
    if (section == "time_limits_ms") continue;
    for (const auto& [key, value] : keys.items()) {
      EXPECT_NE(text.find("`" + key + "`"), std::string::npos)
          << section << "." << key << " is not in docs/settings.md";
    }
  }
}

}  // namespace
}  // namespace league
