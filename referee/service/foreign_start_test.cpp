#include "referee/service/foreign_start.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace league::referee::service {
namespace {

using nlohmann::json;

constexpr const char* kUrlA = "http://127.0.0.1:8101/mcp";
constexpr const char* kUrlB = "http://127.0.0.1:8102/mcp";

/// What the managers of docs/protocol.md, clause 8.34, send as params.
std::vector<json> transcripts() {
  return {
      json::parse(R"({"protocol":"league.v2","message_type":"START_MATCH","sender":
        "league_manager:LM01","auth_token":"t","conversation_id":"c","match_id":"R1M1","round_id":1,
        "player_a_id":"P01","player_b_id":"P02"})"),
      json::parse(R"({"match_id":"R1M1","round_id":1,"player_a":"P01","player_b":"P02",
        "player_a_endpoint":"http://127.0.0.1:8101/mcp",
        "player_b_endpoint":"http://127.0.0.1:8102/mcp"})"),
      json::parse(R"({"match_id":"R1M1","league_id":"l","round_id":"R1","player_A_id":"P01",
        "player_B_id":"P02","player_A_endpoint":"http://127.0.0.1:8101/mcp",
        "player_B_endpoint":"http://127.0.0.1:8102/mcp"})"),
      json::parse(R"({"message_type":"MATCH_ASSIGNMENT","match_id":"R1M1","player1_id":"P01",
        "player1_endpoint":"http://127.0.0.1:8101/mcp","player2_id":"P02",
        "player2_endpoint":"http://127.0.0.1:8102/mcp"})"),
      json::parse(R"({"message_type":"ROUND_ANNOUNCEMENT","round_id":1,"matches":[{"match_id":
        "R1M1","game_type":"even_odd","player_A_id":"P01","player_B_id":"P02"}]})"),
      json::parse(R"({"matches":[{"match_id":"R1M1","round":1,"player_A_id":"P01","player_B_id":
        "P02","status":"PENDING"}]})"),
  };
}

TEST(ForeignStart, ReadsEveryDialect) {
  for (const json& message : transcripts()) {
    auto matches = read_foreign_start(message);
    ASSERT_TRUE(matches) << message << matches.error().message;
    ASSERT_EQ(matches->size(), 1U);
    const auto& match = matches->front();
    EXPECT_EQ(match.match_id.str(), "R1M1");
    EXPECT_EQ(match.round_id, 1);
    EXPECT_EQ(match.players[Side::kA].str(), "P01");
    EXPECT_EQ(match.players[Side::kB].str(), "P02");
    if (message.dump().find("8101") == std::string::npos) continue;
    EXPECT_EQ(match.endpoints[Side::kA], kUrlA);
    EXPECT_EQ(match.endpoints[Side::kB], kUrlB);
  }
}

TEST(ForeignStart, NamesWhatIsMissingAndWhatCame) {
  for (const json& message :
       {json::object(), json{{"match_id", 7}}, json{{"match_id", "R1M1"}, {"player_a", "P01"}},
        json{{"matches", {"R1M1"}}}, json{{"matches", {{{"match_id", std::string(65, 'x')}}}}}}) {
    auto matches = read_foreign_start(message);
    ASSERT_FALSE(matches) << message;
    EXPECT_NE(matches.error().message.find("received: "), std::string::npos);
  }
}

TEST(ForeignStart, SurvivesRoundsThatAreNone) {
  for (const json& round : {json(-5), json(1e300), json(std::int64_t{1} << 60),
                            json("R99999999999"), json("first"), json(nullptr), json::array()}) {
    auto match = read_foreign_start(
        {{"match_id", "R1M1"}, {"player_a", "P01"}, {"player_b", "P02"}, {"round_id", round}});
    ASSERT_TRUE(match);
    EXPECT_GE(match->front().round_id, 1) << round;
  }
}

TEST(ForeignStart, FindsItsOwnMatches) {
  auto with = [](const std::string& id, const std::string& address) {
    ForeignMatch match;
    match.referee_id = id;
    match.referee_endpoint = address;
    return is_for(match, "REF01", "http://localhost:8001/mcp");
  };
  EXPECT_TRUE(with("", ""));
  EXPECT_TRUE(with("REF01", "http://10.0.0.9:1/mcp")) << "the id decides";
  EXPECT_TRUE(with("referee:REF01", ""));
  EXPECT_FALSE(with("REF02", "http://localhost:8001/mcp"));
  EXPECT_TRUE(with("", "http://127.0.0.1:8001/mcp/"));
  EXPECT_FALSE(with("", "http://127.0.0.1:8002/mcp"));
}

TEST(ForeignStart, ReadsAddresses) {
  const PlayerAddresses expected = {{core::PlayerId("P01"), kUrlA}, {core::PlayerId("P02"), kUrlB}};
  const json rows = {{{"player_id", "P01"}, {"contact_endpoint", kUrlA}},
                     {{"player_id", "P02"}, {"player_meta", {{"contact_endpoint", kUrlB}}}}};
  EXPECT_EQ(read_addresses({{"players", rows}}), expected);
  EXPECT_EQ(read_addresses({{"data", {{"players", rows}}}}), expected);
  EXPECT_EQ(read_addresses(rows), expected);
  EXPECT_EQ(read_addresses({{"P01", kUrlA}, {"P02", {{"endpoint", kUrlB}}}}), expected);
  EXPECT_TRUE(read_addresses({{"status", "ok"}, {"P01", 7}}).empty());
  EXPECT_TRUE(read_addresses("http://127.0.0.1/").empty());
}

TEST(ForeignStart, AReportIsFoundUnderEverySpelling) {
  json report = {{"match_id", "R1M1"},
                 {"result",
                  {{"winner", "P02"},
                   {"score", {{"P01", 0}, {"P02", 3}}},
                   {"details", {{"drawn_number", 8}, {"number_parity", "even"}}}}}};
  add_usual_spellings(report);
  EXPECT_EQ(report["winner_id"], "P02");
  EXPECT_EQ(report["result"]["winner_player_id"], "P02");
  EXPECT_EQ(report["result"]["status"], "WIN");
  EXPECT_EQ(report["players"]["P01"], (json{{"result", "LOSS"}, {"points", 0}}));
  EXPECT_EQ(report["players"]["P02"], (json{{"result", "WIN"}, {"points", 3}}));
  EXPECT_EQ(report["game_result"]["drawn_number"], 8);
  EXPECT_EQ(report["result"]["details"]["drawn_number"], 8) << "what stood there stays";
  report["result"]["winner"] = nullptr;
  add_usual_spellings(report);
  EXPECT_EQ(report["result"]["status"], "DRAW");
  EXPECT_EQ(report["players"]["P01"]["result"], "DRAW");
  report["result"]["details"]["drawn_number"] = nullptr;
  add_usual_spellings(report);
  EXPECT_EQ(report["result"]["status"], "TECHNICAL_LOSS");
}

}  // namespace
}  // namespace league::referee::service
