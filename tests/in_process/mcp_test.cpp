// The tools and resources of the three programs, as a client of MCP sees them.
#include <gtest/gtest.h>

#include "common/agent/host/shown_tools.h"
#include "common/schema/schema_validator.h"
#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using nlohmann::json;

class Mcp : public ::testing::Test {
 protected:
  Mcp() { league_.register_all(); }

  json list(const std::string& who) {
    return league_.call(who, "tools/list", json::object())["result"]["tools"];
  }
  json call_tool(const std::string& who, const std::string& name, const json& arguments) {
    return league_.call(who, "tools/call", {{"name", name}, {"arguments", arguments}});
  }
  json tool(const std::string& who, const std::string& name) {
    for (const auto& one : list(who)) {
      if (one["name"] == name) return one;
    }
    return nullptr;
  }
  void expect_conforms(const std::string& who, const std::string& name, const json& arguments) {
    auto answer = call_tool(who, name, arguments);
    ASSERT_TRUE(answer.contains("result")) << answer;
    const auto& result = answer["result"];
    EXPECT_EQ(result["isError"], false) << answer;
    EXPECT_EQ(json::parse(result["content"][0]["text"].get<std::string>()),
              result["structuredContent"]);
    auto schema = schema::CompiledSchema::compile(tool(who, name)["outputSchema"], name);
    ASSERT_TRUE(schema) << schema.error().message;
    auto violation = schema->validate(result["structuredContent"]);
    EXPECT_FALSE(violation) << name << ": " << violation->pointer << " " << violation->text;
  }

  LeagueFixture league_{{.players = 2}};
};

TEST_F(Mcp, EveryToolIsWellDescribed) {
  const std::map<std::string, std::size_t> counts = {
      {"league_manager", 17}, {"REF01", 7}, {"P01", 12}};
  for (const auto& [who, count] : counts) {
    auto tools = list(who);
    EXPECT_EQ(tools.size(), count) << who;
    std::string last;
    for (const auto& one : tools) {
      std::string name = one["name"];
      EXPECT_GT(name, last);
      last = name;
      EXPECT_FALSE(one["description"].get<std::string>().empty()) << name;
      EXPECT_FALSE(one["title"].get<std::string>().empty()) << name;
      for (const char* part : {"inputSchema", "outputSchema"}) {
        EXPECT_EQ(one[part]["type"], "object") << name;
        EXPECT_EQ(one[part]["$schema"], "http://json-schema.org/draft-07/schema#") << name;
        EXPECT_TRUE(schema::CompiledSchema::compile(one[part], name)) << name << " " << part;
      }
    }
  }
}

TEST_F(Mcp, WhatToolsAnswerKeepsTheirSchemas) {
  expect_conforms("league_manager", "ping", json::object());
  expect_conforms("league_manager", "get_standings", json::object());
  expect_conforms("league_manager", "get_standings", {{"offset", 1}, {"limit", 1}});
  expect_conforms("league_manager", "get_league_status", json::object());
  auto token = league_.token_of("P01").reveal();
  expect_conforms(
      "league_manager", "league_query",
      league_.message("LEAGUE_QUERY", "player:P01", token, {{"query_type", "GET_STANDINGS"}}));
  expect_conforms("P01", "get_player_state", {{"auth_token", token}});
  ASSERT_TRUE(league_.play());
  expect_conforms("league_manager", "get_league_status", json::object());
  expect_conforms("REF01", "get_match_state", {{"match_id", "R1M1"}});
  expect_conforms("P01", "get_player_state", {{"auth_token", token}});
}

TEST_F(Mcp, CallsAreAdmittedLikeMessages) {
  auto refused = call_tool("league_manager", "league_query",
                           league_.message("LEAGUE_QUERY", "player:P01", "tok_wrong",
                                           {{"query_type", "GET_STANDINGS"}}))["result"];
  EXPECT_EQ(refused["isError"], true);
  EXPECT_FALSE(refused.contains("structuredContent"));
  auto told = json::parse(refused["content"][0]["text"].get<std::string>());
  EXPECT_EQ(told["message_type"], "LEAGUE_ERROR");
  auto player = call_tool("P01", "choose_parity", {{"message_type", "CHOOSE_PARITY_CALL"}});
  EXPECT_EQ(player["result"]["isError"], true);
  EXPECT_EQ(call_tool("league_manager", "get_standings", {{"offset", "x"}})["result"]["isError"],
            true);
  EXPECT_EQ(call_tool("league_manager", "choose_parity", json::object())["error"]["code"], -32602);
}

TEST_F(Mcp, TheLeagueIsAResource) {
  auto read = [&](const std::string& uri) {
    auto answer = league_.call("league_manager", "resources/read", {{"uri", uri}});
    if (!answer.contains("result")) return answer;
    return json::parse(answer["result"]["contents"][0]["text"].get<std::string>());
  };
  ASSERT_TRUE(league_.play());
  auto table = read("league://standings");
  EXPECT_EQ(table["standings"].size(), 2U);
  EXPECT_EQ(table["standings"][0]["rank"], 1);
  auto schedule = read("league://schedule");
  EXPECT_EQ(schedule["matches"].size(), 1U);
  EXPECT_EQ(read("league://match/R1M1"), schedule["matches"][0]);
  EXPECT_EQ(read("league://round/1")["matches"][0], schedule["matches"][0]);
  for (const char* none : {"0", "2", "-1", "1M1", "x", "99999999999999999999"})
    EXPECT_EQ(read("league://round/" + std::string(none))["error"]["code"], -32002) << none;
  EXPECT_EQ(read("league://match/R9M9")["error"]["code"], -32002);
  EXPECT_EQ(read("league://match/nonsense")["error"]["code"], -32002);
}

TEST_F(Mcp, TellsEachAgentApart) {
  json params = {{"protocolVersion", "2025-11-25"}};
  for (const auto& [who, name] :
       {std::pair("league_manager", "league-manager"), std::pair("REF01", "league-referee"),
        std::pair("P01", "league-player")}) {
    auto result = league_.call(who, "initialize", params)["result"];
    EXPECT_EQ(result["serverInfo"]["name"], name);
    EXPECT_FALSE(result["instructions"].get<std::string>().empty());
  }
}

}  // namespace
}  // namespace league::testing
