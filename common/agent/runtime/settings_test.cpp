#include "common/agent/runtime/settings.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace league::agent::runtime {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

TEST(Settings, DefaultsAreTheProtocolsAndStandInTheSampleFile) {
  // There each of them is a comment behind the header of its section.
  std::ifstream in(std::string(LEAGUE_SOURCE_DIR) + "/config/league.toml");
  json document;
  std::string section;
  for (std::string line; std::getline(in, line);) {
    const auto equals = line.find(" = ");
    if (line.starts_with("["))
      section = line.starts_with("[limits.") ? line.substr(8, line.size() - 9) : "";
    if (!section.empty() && line.starts_with("# ") && equals != line.npos)
      document[section][line.substr(2, equals - 2)] = std::stol(line.substr(equals + 3));
  }
  EXPECT_EQ(document, to_json(Settings{}));
  EXPECT_EQ(Settings{}.time_limit(envelope::MessageType::kChooseParityCall), milliseconds(30000));
  EXPECT_EQ(Settings{}.retry.max_attempts, 3);
}

TEST(Settings, ReadsWhatItWrites) {
  auto document = to_json(Settings{});
  document["time_limits_ms"]["GAME_INVITATION"] = 77;
  document["retry"]["delay_ms"] = 5;
  auto settings = parse_settings(document);
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->time_limit(envelope::MessageType::kGameInvitation), milliseconds(77));
  EXPECT_EQ(to_json(*settings), document);
}

TEST(Settings, RefusesWhatItDoesNotKnowByName) {
  struct Refused {
    const char* document;
    const char* named;
  };
  for (const auto& [document, named] : {
           Refused{R"({"retry": {"max_atempts": 3}})", "/retry/max_atempts"},
           Refused{R"({"retry": {"max_attempts": 0}})", "not between 1 and 100"},
           Refused{R"({"retry": {"max_attempts": "3"}})", "whole number"},
           Refused{R"({"retry": 3})", "/retry"},
           Refused{R"({"bus": {"replicas": 6}})", "not between 1 and 5"},
           Refused{R"({"bus": {"lease_ms": 6000}})", "/bus/lease_ms: is not a setting"},
           Refused{R"({"time_limits_ms": {"GAME_INVITE": 3}})", "/time_limits_ms/GAME_INVITE"},
           Refused{R"([])", "object of sections"},
       }) {
    auto settings = parse_settings(json::parse(document));
    ASSERT_FALSE(settings) << document;
    EXPECT_NE(settings.error().message.find(named), std::string::npos) << settings.error().message;
  }
}

TEST(Settings, EveryFaultIsTold) {
  auto settings =
      parse_settings(json::parse(R"({"retry": {"max_attempts": 0, "delay": 1}, "colour": 3})"));
  ASSERT_FALSE(settings);
  for (const char* pointer : {"/retry/max_attempts", "/retry/delay", "/colour"})
    EXPECT_NE(settings.error().message.find(pointer), std::string::npos)
        << settings.error().message;
}

TEST(Settings, TheLongestMatchCoversEveryAttempt) {
  Settings settings;
  // 3 x 5 s + 2 x 2 s, 3 x 30 s + 2 x 2 s, 3 x 10 s + 2 x 2 s
  EXPECT_EQ(settings.longest_match(), milliseconds(19000 + 94000 + 34000));
}

}  // namespace
}  // namespace league::agent::runtime
