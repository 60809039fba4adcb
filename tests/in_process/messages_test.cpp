#include <gtest/gtest.h>

#include <set>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;

json query(const LeagueFixture& league, const std::string& type, json params = json::object()) {
  return league.message("LEAGUE_QUERY", "player:P01", league.token_of("P01").reveal(),
                        {{"query_type", type}, {"query_params", std::move(params)}});
}

TEST(Messages, AllEighteenAreSpokenAndKeepTheirSchemas) {
  LeagueFixture league({.players = 3});
  league.script("P02").on("CHOOSE_PARITY_CALL",
                          Deviation::edit([](json& message) { message["parity_choice"] = 1; }), 1);
  ASSERT_TRUE(league.play());
  (void)league.call("league_manager", "league_query", query(league, "GET_STANDINGS"));
  (void)league.call(
      "league_manager", "league_query",
      league.message("LEAGUE_QUERY", "player:P01", "tok_wrong", {{"query_type", "GET_STANDINGS"}}));
  std::set<std::string> types;
  for (const auto& one : league.recording.all()) {
    if (!one.message.is_object() || !one.message.contains("message_type")) continue;
    std::string name = one.message["message_type"];
    auto type = envelope::message_type_from_wire(name);
    ASSERT_TRUE(type) << name;
    types.insert(name);
    auto valid = schemas().validate(*type, one.message);
    bool is_spoilt = name == "CHOOSE_PARITY_RESPONSE" && one.message["parity_choice"] == 1;
    EXPECT_EQ(static_cast<bool>(valid), !is_spoilt) << one.message;
  }
  for (const auto& row : envelope::all_messages())
    EXPECT_TRUE(types.contains(std::string(row.wire_name))) << row.wire_name;
}

TEST(Messages, AReplyCarriesTheConversationOfItsRequest) {
  LeagueFixture league({.players = 4, .referees = 2});
  ASSERT_TRUE(league.play());
  std::map<std::string, std::set<std::string>> matches;
  for (const auto& one : league.recording.all()) {
    if (!one.message.is_object() || !one.message.contains("match_id")) continue;
    if (!one.message.contains("conversation_id")) continue;
    matches[one.message["match_id"]].insert(one.message["conversation_id"]);
  }
  EXPECT_EQ(matches.size(), 6U);
  EXPECT_EQ(matches["R1M1"], std::set<std::string>{"convr1m1001"});
  for (const auto& [match, conversations] : matches) EXPECT_EQ(conversations.size(), 1U) << match;
}

TEST(Messages, SaysTheReasonOfAGameInBothPlaces) {
  LeagueFixture league({.players = 2});
  ASSERT_TRUE(league.play());
  auto over = spoken(league, "P01", Direction::kIn, Kind::kRequest, "GAME_OVER").at(0).message;
  EXPECT_FALSE(over["reason"].get<std::string>().empty());
  EXPECT_EQ(over["reason"], over["game_result"]["reason"]);
}

TEST(Messages, TheRoundsSummaryAddsUpAndNamesTheNextRound) {
  LeagueFixture league({.players = 4});
  league.disconnect("P03");
  league.connect("P03");
  league.script("P03").on("GAME_INVITATION", Deviation::silence());
  ASSERT_TRUE(league.play());
  auto rounds = spoken(league, "REF01", Direction::kIn, Kind::kRequest, "ROUND_COMPLETED");
  ASSERT_EQ(rounds.size(), 3U);
  for (const auto& one : rounds) {
    const auto& summary = one.message["summary"];
    EXPECT_EQ(summary["total_matches"], 2);
    EXPECT_EQ(summary["technical_losses"], 1);
    EXPECT_EQ(summary["wins"].get<int>() + summary["draws"].get<int>(), 1);
    EXPECT_EQ(one.message["matches_completed"], one.message["matches_played"]);
  }
  EXPECT_EQ(rounds[0].message["next_round_id"], 2);
  EXPECT_EQ(rounds[2].message["next_round_id"], nullptr);
}

struct QueryCase {
  const char* type;
  json params;
  const char* expected;  ///< part of the answer, or the error's code
};

TEST(Messages, StatisticsBeforeTheStartAreZeros) {
  LeagueFixture league({.players = 2});
  league.register_all();
  auto answer =
      league.call("league_manager", "league_query", query(league, "GET_PLAYER_STATS"))["result"];
  EXPECT_EQ(answer["success"], true) << answer;
  EXPECT_EQ(answer["data"]["stats"]["points"], 0) << answer;
  EXPECT_EQ(answer["data"]["stats"]["played"], 0) << answer;
}

TEST(Messages, AnIdBesideTheManagersRoleIsNoSenderOfAPlayersMessage) {
  LeagueFixture league({.players = 2});
  league.register_all();
  auto asked = query(league, "GET_STANDINGS");
  asked["sender"] = "league_manager:x";
  auto answer = league.call("league_manager", "league_query", asked)["result"];
  EXPECT_EQ(answer["error_code"], "E025") << answer;
}

TEST(Messages, AnswersQueries) {
  LeagueFixture league({.players = 3});
  ASSERT_TRUE(league.play());
  const std::vector<QueryCase> cases = {
      {"GET_STANDINGS", json::object(), "standings"},
      {"GET_STANDINGS", {{"offset", 2}, {"limit", 10}}, "standings"},
      {"GET_SCHEDULE", {{"round_id", 2}}, "schedule"},
      {"GET_NEXT_MATCH", json::object(), "next_match"},
      {"GET_PLAYER_STATS", {{"player_id", "P03"}}, "stats"},
      {"GET_PLAYER_STATS", {{"player_id", "P99"}}, "E005"},
      {"GET_NEXT_MATCH", {{"player_id", "REF01"}}, "E005"},
  };
  for (const auto& one : cases) {
    auto answer = league.call("league_manager", "league_query",
                              query(league, one.type, one.params))["result"];
    EXPECT_EQ(answer["message_type"], "LEAGUE_QUERY_RESPONSE") << answer;
    EXPECT_TRUE(schemas().validate(envelope::MessageType::kLeagueQueryResponse, answer)) << answer;
    bool is_error = one.expected[0] == 'E';
    EXPECT_EQ(answer["success"], !is_error) << answer;
    if (is_error) {
      EXPECT_EQ(answer["error"]["error_code"], one.expected) << answer;
    } else {
      EXPECT_TRUE(answer["data"].contains(one.expected)) << answer;
    }
  }
  auto page = league.call("league_manager", "league_query",
                          query(league, "GET_STANDINGS", {{"offset", 2}}))["result"]["data"];
  EXPECT_EQ(page["standings"].size(), 1U);
  EXPECT_EQ(page["total"], 3);
}

// Protocol §5: a message that is not of the protocol gets LEAGUE_ERROR; only a question that could
// be asked and has no answer gets LEAGUE_QUERY_RESPONSE without success.
TEST(Messages, AnUnknownQueryIsALeagueError) {
  LeagueFixture league({.players = 2});
  league.register_all();
  auto answer =
      league.call("league_manager", "league_query", query(league, "GET_WEATHER"))["result"];
  EXPECT_EQ(answer["message_type"], "LEAGUE_ERROR");
  EXPECT_EQ(answer["error_code"], "E029");
  EXPECT_EQ(answer["original_message_type"], "LEAGUE_QUERY");
  EXPECT_EQ(answer["conversation_id"], "convtest001");
}

}  // namespace
}  // namespace league::testing
