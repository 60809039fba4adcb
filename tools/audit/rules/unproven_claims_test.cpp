#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_directory.h"
#include "tools/audit/facts/reading.h"
#include "tools/audit/rules/league_testing.h"

namespace league::tools::auditor {
namespace {

using nlohmann::json;
using Rules = std::vector<std::string>;

const std::vector<std::string> kNobodyCommits;

/// What anybody can send must accuse nobody.
json accepted() { return {{"status", "ok"}}; }

/// A request in the manager's log alone, and what it answered.
void ask_manager(TestLeague& league, json request, json reply, const std::string& peer,
                 const char* verdict = nullptr) {
  league.call("stranger", "league_manager", request, reply);
  auto& log = league.log("league_manager");
  for (TestRecord* one : {&log[log.size() - 2], &log[log.size() - 1]}) one->fields["peer"] = peer;
  if (verdict != nullptr) log[log.size() - 2].fields["verdict"] = verdict;
  league.absent.push_back("stranger");
}

json refusal(const TestLeague& league, const std::string& code) {
  json error = league.message("LEAGUE_ERROR", "league_manager");
  error["error_code"] = code;
  error["original_message_type"] = "";
  error.erase("conversation_id");
  return error;
}

TEST(VerifyUnprovenClaims, AWrongOperatorKeyIsNoFault) {
  TestLeague league;
  ask_manager(league, {{"operator_key", "wrong..."}}, refusal(league, "E012"), "127.0.0.1:4711");
  EXPECT_EQ(league.found(), Rules{});
}

TEST(VerifyUnprovenClaims, AConversationIdOfAnyLengthOrNoneIsNoFault) {
  TestLeague league;
  json query = league.message("LEAGUE_QUERY", "player:P01");
  query["query_type"] = "GET_STANDINGS";
  query["conversation_id"] = std::string(101, 'x');
  ask_manager(league, query, refusal(league, "E024"), "player:P01", "E024");
  query.erase("conversation_id");
  ask_manager(league, query, refusal(league, "E003"), "player:P01", "E003");
  json answer = league.message("LEAGUE_QUERY_RESPONSE", "league_manager");
  answer["query_type"] = "GET_STANDINGS";
  answer["success"] = true;
  answer["data"] = json::object();
  answer["conversation_id"] = "";
  ask_manager(league, query, answer, "127.0.0.1:4711");
  auto& log = league.log("league_manager");
  log[log.size() - 2].fields["leniencies"] = {"missing_conversation_id"};
  EXPECT_EQ(league.found(), Rules{});
}

TEST(VerifyUnprovenClaims, ARegistrationStatesOnlyWhoRegisters) {
  for (const std::string sender : {"league_manager", "referee:REF01", "player:P01", "player:x"}) {
    TestLeague league;
    json request = league.message("LEAGUE_REGISTER_REQUEST", sender);
    request.erase("auth_token");
    request["player_meta"] = {{"display_name", "x"},
                              {"version", "1.0.0"},
                              {"game_types", {"even_odd"}},
                              {"contact_endpoint", "http://localhost:9/mcp"}};
    request["draw_proof"] = std::string(64, '6');
    request["match_id"] = "R1M1";
    request["log_head"] = {{"seq", 1}, {"hash", std::string(64, '0')}};
    request["matches"] = {{{"match_id", "R1M1"},
                           {"draw_commitment", std::string(64, '0')},
                           {"player_A_id", "P07"},
                           {"player_B_id", "P08"},
                           {"conversation_id", "convr1m1001"},
                           {"referee_id", "REF07"}}};
    request["final_standings"] = json::array({{{"player_id", "P07"}}});
    request["context"] = {{"draw_commitment", std::string(64, '0')}};
    json reply = league.message("LEAGUE_REGISTER_RESPONSE", "league_manager");
    reply["status"] = "REJECTED";
    reply["player_id"] = nullptr;
    reply["reason"] = "the league has begun";
    ask_manager(league, request, reply, "player:x");
    EXPECT_EQ(league.found(), Rules{}) << sender;
  }
}

TEST(VerifyUnprovenClaims, APlayerWithoutLogAndKeyIsNotMissed) {
  TestLeague league;
  json request = league.message("LEAGUE_REGISTER_REQUEST", "player:entered");
  request.erase("auth_token");
  request["player_meta"] = {{"display_name", "entered"},
                            {"version", "1.0.0"},
                            {"game_types", {"even_odd"}},
                            {"contact_endpoint", "http://localhost:9/mcp"}};
  json reply = league.message("LEAGUE_REGISTER_RESPONSE", "league_manager");
  reply["status"] = "ACCEPTED";
  reply["reason"] = nullptr;
  reply["player_id"] = "P03";
  ask_manager(league, request, reply, "player:entered");
  EXPECT_EQ(league.found(), Rules{});
}

TEST(VerifyUnprovenClaims, AStrangersErrorAccusesNobody) {
  for (const std::string sender : {"league_manager", "player:P02", "nobody"}) {
    TestLeague league;
    json error = league.message("LEAGUE_ERROR", sender);
    error.erase("auth_token");
    error["error_code"] = "E001";
    error["draw_proof"] = std::string(64, '6');
    error["log_head"] = {{"seq", 1}, {"hash", std::string(64, '0')}};
    league.call("stranger", "player:P01", error, accepted());
    auto& log = league.log("player:P01");
    for (TestRecord* one : {&log[log.size() - 2], &log[log.size() - 1]})
      one->fields["peer"] = sender;
    league.absent = {"stranger"};
    EXPECT_EQ(league.found(), Rules{}) << sender;
  }
}

TEST(VerifyUnprovenClaims, AnAcknowledgementMayNameAnyMessage) {
  for (const std::string type :
       {"ROUND_ANNOUNCEMENT", "LEAGUE_COMPLETED", "CHOOSE_PARITY_RESPONSE", "GAME_OVER"}) {
    TestLeague league;
    json news = league.message("ROUND_COMPLETED", "league_manager");
    news["round_id"] = 1;
    news["matches_completed"] = 1;
    news["next_round_id"] = nullptr;
    news["summary"] = {{"total_matches", 1}, {"wins", 1}, {"draws", 0}, {"technical_losses", 0}};
    json named = {{"message_type", type},
                  {"sender", "player:P77"},
                  {"match_id", "R1M1"},
                  {"parity_choice", "odd"},
                  {"draw_proof", std::string(64, '6')},
                  {"final_standings", json::array()}};
    league.call("league_manager", "player:P01", news, named);
    EXPECT_EQ(league.found(), Rules{}) << type;
  }
}

TEST(VerifyUnprovenClaims, AReplyMayNameAnotherConversationLeagueOrRound) {
  for (const char* type : {"GAME_JOIN_ACK", "CHOOSE_PARITY_RESPONSE"}) {
    TestLeague league;
    league.change("", type, [](json& reply) {
      reply["conversation_id"] = "another";
      reply["league_id"] = "another";
      reply["round_id"] = 7;
    });
    for (TestRecord& one : league.log("referee:REF01"))
      if (text_at(one.message, "message_type") == type) one.fields["conversation_id"] = "another";
    EXPECT_EQ(league.found(), Rules{}) << type;
  }
}

TEST(VerifyUnprovenClaims, AForeignRefereeMayNameItsOwnConversation) {
  TestLeague league(kNobodyCommits);
  league.change("", "REFEREE_REGISTER_REQUEST",
                [](json& request) { request["referee_meta"].erase("match_credentials"); });
  for (auto agent : {"league_manager", "referee:REF01"}) {
    for (TestRecord& one : league.log(agent)) {
      if (text_at(one.message, "message_type") != "MATCH_RESULT_REPORT") continue;
      one.message["conversation_id"] = "my-own-7";
      one.fields["conversation_id"] = "my-own-7";
      if (std::string(agent) == "league_manager") one.fields["leniencies"] = {"other_conversation"};
    }
  }
  EXPECT_EQ(league.found(), Rules{});
}

TEST(VerifyUnprovenClaims, ADeliveryWithoutACheckedTokenStatesNothing) {
  for (const char* leniency : {"missing_call_token", "foreign_call_token"}) {
    TestLeague league;
    json news = league.message("ROUND_ANNOUNCEMENT", "league_manager");
    news["log_head"] = {{"seq", 1}, {"hash", std::string(64, '0')}};
    news["matches"] = {{{"match_id", "R1M1"},
                        {"game_type", "even_odd"},
                        {"player_A_id", "P01"},
                        {"player_B_id", "P02"},
                        {"referee_endpoint", "http://localhost:8001/mcp"},
                        {"draw_commitment", std::string(64, '0')}}};
    league.call("stranger", "player:P01", news, accepted());
    auto& log = league.log("player:P01");
    log[log.size() - 2].fields["leniencies"] = {leniency};
    log[log.size() - 2].fields["peer"] = "league_manager";
    league.absent = {"stranger"};
    EXPECT_EQ(league.found(), Rules{}) << leniency;
  }
}

/// Moves a log and its seal.
void move_log(const std::filesystem::path& from, const std::filesystem::path& to) {
  for (const char* ending : {".log.jsonl", ".seal.json"})
    std::filesystem::rename(from.string() + ending, to.string() + ending);
}

TEST(VerifyUnprovenClaims, ALogThatNamesNoLeagueStatesNothing) {
  // A standalone player of an earlier version was tried out in the directory of a league, and its
  // caller said that it was REF01.
  TestLeague other;
  other.headers.clear();
  for (TestRecord& one : other.log("player:P01")) {
    if (one.message.contains("match_id")) one.message["match_id"] = "R8M1";
  }
  const league::testing::TemporaryDirectory temporary;
  other.write(temporary.path() / "other");
  TestLeague().write(temporary.path() / "league");
  move_log(temporary.path() / "other/logs/agents/P01",
           temporary.path() / "league/logs/agents/player_bot_77");
  auto report = verify_directory(temporary.path() / "league", {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->logs, 5U);
  EXPECT_TRUE(report->is_ok()) << report->faults.size() << " faults";
}

TEST(VerifyUnprovenClaims, WhoNamesNoLeagueInItsLogHasNoLog) {
  for (const char* log : {"logs/agents/REF01", "logs/agents/P02", "logs/league/l/league"}) {
    const league::testing::TemporaryDirectory temporary;
    TestLeague nameless;
    nameless.headers.clear();
    nameless.write(temporary.path() / "nameless");
    TestLeague().write(temporary.path() / "league");
    move_log(temporary.path() / "nameless" / log, temporary.path() / "league" / log);
    auto report = verify_directory(temporary.path() / "league", {});
    ASSERT_TRUE(report);
    EXPECT_TRUE(std::ranges::any_of(report->missing, [](const auto& one) {
      return one.rule == "log.absent";
    })) << log;
  }
}

TEST(VerifyUnprovenClaims, EveryWrongTypeInALogIsAFaultAndNoCrash) {
  const std::vector<json> kValues = {nullptr,
                                     true,
                                     -1,
                                     1e300,
                                     18446744073709551615U,
                                     "x",
                                     json::array(),
                                     json::object(),
                                     json::array({-1, "x"})};
  for (const json& value : kValues) {
    TestLeague league;
    for (int i = 0; i < 8; ++i) league.call("player:P01", "league_manager", {{"n", i}}, accepted());
    std::size_t at = 0;
    for (const char* key :
         {"time", "mono_ns", "dir", "kind", "call", "peer", "context", "conversation_id",
          "message_type", "match_id", "http_status", "elapsed_us", "leniencies", "verdict",
          "broadcast", "raw_ref", "raw_keep", "raw_bytes", "raw_sha256"})
      league.log("league_manager").at(at++).fields[key] = value;
    auto found = league.found();
    EXPECT_NE(std::ranges::find(found, "fault record.form"), found.end()) << value;
  }
  TestLeague league;
  league.log("league_manager").at(3).fields["raw_ref"] = 1;
  league.log("league_manager").at(3).fields["raw_keep"] = {-1, "x"};
  auto found = league.found();
  EXPECT_NE(std::ranges::find(found, "fault record.form"), found.end());
}

TEST(VerifyUnprovenClaims, EveryWrongTypeInAReportIsAFaultAndNoCrash) {
  const std::vector<json> kValues = {
      nullptr, true, -1, 1e300, 18446744073709551615U, "x", json::array(), json::object()};
  for (const json& value : kValues) {
    TestLeague league;
    json report;
    for (TestRecord& one : league.log("league_manager"))
      if (text_at(one.message, "message_type") == "MATCH_RESULT_REPORT") report = one.message;
    for (const char* pointer :
         {"/result", "/result/score", "/result/score/P01", "/result/winner", "/result/details",
          "/result/details/choices", "/result/details/choices/P01", "/result/details/draw_proof",
          "/result/details/failures", "/result/details/attempt", "/result/details/draw_version",
          "/result/details/choice_commitments", "/result/details/choice_nonces/P01",
          "/result/details/drawn_number", "/round_id", "/match_id", "/game_type", "/sender"}) {
      json changed = report;
      changed[json::json_pointer(pointer)] = value;
      league.call("referee:REF01", "league_manager", changed, accepted());
    }
    EXPECT_FALSE(league.found().empty()) << value;
  }
}

TEST(VerifyUnprovenClaims, AnEarlierLeagueInTheSameFilesRaisesNothing) {
  const league::testing::TemporaryDirectory temporary;
  TestLeague earlier;
  earlier.headers["league_key"] = std::string(64, 'e');
  earlier.write(temporary.path() / "old");
  TestLeague now;
  now.write(temporary.path() / "new");
  auto both = verify_directory(temporary.path(), {});
  ASSERT_TRUE(both);
  EXPECT_EQ(both->directories.size(), 2U) << "each league below the directory by itself";
  EXPECT_TRUE(both->is_ok());
  // Of agents that went on from the earlier league only the logs of it are still there.
  std::filesystem::rename(temporary.path() / "old" / "logs" / "agents",
                          temporary.path() / "new" / "logs" / "older");
  auto mixed = verify_directory(temporary.path() / "new", {});
  ASSERT_TRUE(mixed);
  EXPECT_TRUE(mixed->is_ok()) << mixed->faults.size() << mixed->missing.size();
}

TEST(VerifyUnprovenClaims, ALeagueWithoutAnyLogIsMissingItAll) {
  const league::testing::TemporaryDirectory temporary;
  TestLeague().write(temporary.path());
  std::filesystem::remove_all(temporary.path() / "logs");
  auto report = verify_directory(temporary.path(), {});
  ASSERT_TRUE(report);
  ASSERT_EQ(report->missing.size(), 1U);
  EXPECT_EQ(report->missing[0].rule, "log.absent");
}

}  // namespace
}  // namespace league::tools::auditor
