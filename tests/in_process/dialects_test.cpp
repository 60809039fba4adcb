#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using nlohmann::json;

TEST(AdmissionMode, EachDialectIsNotedInOpenModeAndRefusedInStrictMode) {
  struct Case {
    const char* leniency;
    std::function<json(json message)> frame;
  };
  auto request = [](const std::string& method, json params) {
    return json{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", std::move(params)}};
  };
  auto changed = [&](auto change) {
    return [change, request](json message) {
      change(message);
      return request("league_query", std::move(message));
    };
  };
  const std::vector<Case> cases = {
      {"method_message_type", [&](json m) { return request("LEAGUE_QUERY", std::move(m)); }},
      {"method_alias", [&](json m) { return request("query_league", std::move(m)); }},
      {"method_generic", [&](json m) { return request("mcp_message", std::move(m)); }},
      {"method_unknown_routed", [&](json m) { return request("dance", std::move(m)); }},
      {"method_tools_call",
       [&](json m) {
         return request("tools/call", {{"name", "league_query"}, {"arguments", std::move(m)}});
       }},
      {"params_message",
       [&](json m) {
         return request("league_query", {{"message", std::move(m)}});
       }},
      {"params_arguments",
       [&](json m) {
         return request("league_query", {{"arguments", std::move(m)}});
       }},
      {"bare_request_body", [](json m) { return m; }},
      {"null_optional_field", changed([](json& m) { m["match_id"] = nullptr; })},
      {"empty_optional_field", changed([](json& m) { m["match_id"] = ""; })},
      {"round_id_text", changed([](json& m) { m["round_id"] = "R1"; })},
      {"sender_plural_role", changed([](json& m) { m["sender"] = "players:P01"; })},
  };
  for (auto mode : {envelope::Mode::kOpen, envelope::Mode::kStrict}) {
    LeagueFixture league({.players = 2, .mode = mode});
    league.register_all();
    for (const auto& one : cases) {
      SCOPED_TRACE(one.leniency);
      auto message = league.message("LEAGUE_QUERY", "player:P01", league.token_of("P01").reveal(),
                                    {{"query_type", "GET_STANDINGS"}});
      auto before = league.recording.of("league_manager").size();
      auto answer = league.post("league_manager", one.frame(message).dump()).frame;
      bool is_refused = answer.dump().find("LEAGUE_ERROR") != std::string::npos;
      EXPECT_EQ(is_refused, mode == envelope::Mode::kStrict) << answer;
      auto log = league.recording.of("league_manager");
      bool is_noted = false;
      for (std::size_t i = before; i < log.size(); ++i)
        is_noted = is_noted || std::ranges::count(log[i].leniencies, one.leniency) > 0;
      if (mode == envelope::Mode::kOpen) {
        EXPECT_TRUE(is_noted);
      }
    }
  }
}

TEST(AdmissionMode, AnswersInTheShapeOfTheQuestion) {
  LeagueFixture league({.players = 2});
  league.register_all();
  auto message = league.message("LEAGUE_QUERY", "player:P01", league.token_of("P01").reveal(),
                                {{"query_type", "GET_STANDINGS"}});
  auto bare = league.post("league_manager", message.dump()).frame;
  EXPECT_EQ(bare["message_type"], "LEAGUE_QUERY_RESPONSE");
  auto tool = league.call("league_manager", "tools/call",
                          {{"name", "league_query"}, {"arguments", message}})["result"];
  EXPECT_EQ(tool["structuredContent"]["message_type"], "LEAGUE_QUERY_RESPONSE");
  EXPECT_EQ(json::parse(tool["content"][0]["text"].get<std::string>()), tool["structuredContent"]);
  EXPECT_EQ(tool["isError"], false);
}

}  // namespace
}  // namespace league::testing
