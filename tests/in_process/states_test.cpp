// Agent states (protocol §6): who fails costs itself and nobody else, and everybody is told.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/in_process/league_checks.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using league_manager::events::AgentRef;
using league_manager::events::AgentState;
using league_manager::events::AgentStateChanged;
using league_manager::events::FailureCounted;
using league_manager::events::MatchForfeited;
using league_manager::events::MatchReported;
using nlohmann::json;
using std::chrono::minutes;
using std::chrono::seconds;

using Changes = std::vector<std::string>;

Changes changes_of(const LeagueFixture& league, AgentRef agent) {
  Changes changes;
  for (const auto& one : events_of<AgentStateChanged>(league)) {
    if (one.agent == agent)
      changes.push_back(std::string(agent_state_name(one.to)) + " " + one.reason);
  }
  return changes;
}

/// What `id` was told about its state.
std::vector<std::string> told(const LeagueFixture& league, const std::string& id) {
  std::vector<std::string> states;
  for (const auto& one : spoken(league, id, Direction::kIn, Kind::kRequest, "LEAGUE_ERROR"))
    states.push_back(one.message["context"]["state"].get<std::string>());
  return states;
}

int lines_with(const LeagueFixture& league, const std::string& text) {
  int found = 0;
  for (const auto& line : league.operator_lines)
    found += line.find(text) != std::string::npos ? 1 : 0;
  return found;
}

int round_of(const LeagueFixture& league) { return league.status()["current_round"].get<int>(); }

TEST(States, ADeadPlayerCostsOneRoundItsTimeAndIsNeverShutDown) {
  LeagueFixture league({.players = 12});
  league.register_all();
  league.disconnect("P01");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 11);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)), Changes{"SUSPENDED FAILED_MATCHES"});
  EXPECT_TRUE(events_of<MatchForfeited>(league).empty()) << "the referee looks, every time";
  int unavailable = 0;
  for (const auto& one : events_of<FailureCounted>(league)) {
    ASSERT_TRUE(one.cause);
    EXPECT_FALSE(one.cause->text.empty());
    unavailable += one.cause->error_code == "E038" ? 1 : 0;
  }
  EXPECT_EQ(unavailable, 8) << "after three lost matches a ping decides";
  EXPECT_EQ(lines_with(league, "! TECHNICAL_LOSS: P01 'bot_P01' loses R"), 11);
  EXPECT_EQ(lines_with(league, "! AGENT_STATE_CHANGED: P01 'bot_P01' is SUSPENDED"), 1);
}

TEST(States, APlayerThatIsRepairedPlaysFromThatRound) {
  LeagueFixture league({.players = 12});
  league.register_all();
  league.disconnect("P01");
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 8; }));
  league.connect("P01");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 7);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED"}));
  EXPECT_EQ(told(league, "P01"), Changes{"ACTIVE"}) << "who was dead did not hear of the other";
}

TEST(States, ASuspendedPlayerHasOneAttemptPerCall) {
  LeagueFixture league({.players = 6});
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence());
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 5);
  EXPECT_EQ(league.script("P01").arrived("CHOOSE_PARITY_CALL"), 3 * 3 + 2 * 1);
  EXPECT_EQ(league.script("P01").arrived("ping"), 2);
  EXPECT_EQ(told(league, "P01"), Changes{"SUSPENDED"});
  for (const auto& one : spoken(league, "P01", Direction::kIn, Kind::kRequest, "LEAGUE_ERROR")) {
    EXPECT_EQ(one.message["error_code"], "E094");
    EXPECT_EQ(one.message["auth_token"], league.token_of("P01").reveal());
    EXPECT_NE(one.message["error_description"].get<std::string>().find("E001"), std::string::npos);
  }
}

TEST(States, AnyHttpAnswerToAPingCountsAsAlive) {
  LeagueFixture league({.players = 6});
  league.script("P01").on("GAME_INVITATION", Deviation::silence(), 9);
  league.script("P01").on("ping", Deviation::bytes("<h1>what?</h1>", 404));
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 3);
  EXPECT_EQ(state_of(league, AgentRef::player(0)), AgentState::kActive);
  EXPECT_EQ(told(league, "P01"), (Changes{"SUSPENDED", "ACTIVE"}));
}

TEST(States, ThreeSlowAttemptsOfOneMatchSuspendNobody) {
  LeagueFixture league({.players = 4});
  league.script("P01").on("GAME_INVITATION", Deviation::silence(), 3);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 1);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)), Changes{});
  EXPECT_EQ(league.script("P01").arrived("ping"), 0);
}

TEST(States, AnAttemptThatIsRepeatedSuccessfullyCountsAsNothingButIsTold) {
  LeagueFixture league({.players = 4});
  for (int i = 0; i < 3; ++i)
    league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence(), 1);
  ASSERT_TRUE(league.play());
  EXPECT_EQ(league.status()["technical_losses"], 0);
  EXPECT_TRUE(events_of<FailureCounted>(league).empty());
  EXPECT_EQ(lines_with(league, "! SLOW_BOT: P01 'bot_P01' is slow: CHOOSE_PARITY_CALL of R1M"), 1);
}

TEST(States, WhoFailsOnlyEveryThirdMatchIsNeverSuspended) {
  LeagueFixture league({.players = 10});
  league.register_all();
  int round = 0;
  ASSERT_TRUE(league.run_until([&] {
    if (round_of(league) != round && !league.is_over()) {
      round = round_of(league);
      round % 3 == 0 ? league.script("P01").on("GAME_INVITATION", Deviation::silence())
                     : league.script("P01").behave();
    }
    return league.is_over();
  }));
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 3);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)), Changes{});
}

TEST(States, AFlappingPlayerComesBackEachTime) {
  LeagueFixture league({.players = 10});
  league.register_all();
  int round = 0;
  ASSERT_TRUE(league.run_until([&] {
    if (round_of(league) != round && !league.is_over()) {
      round = round_of(league);
      round % 4 == 0 ? league.connect("P01") : league.disconnect("P01");
    }
    return league.is_over();
  }));
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 7);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED", "SUSPENDED FAILED_MATCHES",
                     "ACTIVE PLAYED"}));
}

TEST(States, ARestartOfTheManagerKeepsThem) {
  LeagueFixture league({.players = 8});
  league.register_all();
  league.disconnect("P01");
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 5; }));
  ASSERT_EQ(state_of(league, AgentRef::player(0)), AgentState::kSuspended);
  league.restart_manager();
  EXPECT_EQ(state_of(league, AgentRef::player(0)), AgentState::kSuspended);
  league.connect("P01");
  ASSERT_TRUE(league.play());
  EXPECT_EQ(changes_of(league, AgentRef::player(0)),
            (Changes{"SUSPENDED FAILED_MATCHES", "ACTIVE PLAYED"}));
  EXPECT_LE(league.status()["technical_losses"].get<int>(), 5);
  EXPECT_EQ(lines_with(league, "is SUSPENDED"), 1) << "what is replayed is not told again";
}

TEST(States, ABotsOwnFaultIsNeverOurs) {
  const std::vector<std::pair<std::string, int>> answers = {
      {"Traceback: \x1b[2J\x1b]0;owned\x07 ZeroDivisionError", 500},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"KeyError \u001b[31m"}})", 500},
      {R"({"jsonrpc":"2.0","id":1,"result":{"message_type":"LEAGUE_ERROR","error_code":"E090"}})",
       200},
  };
  for (const auto& [bytes, status] : answers) {
    SCOPED_TRACE(bytes);
    LeagueFixture league({.players = 2});
    league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::bytes(bytes, status));
    ASSERT_TRUE(league.play());
    auto failures = events_of<FailureCounted>(league);
    ASSERT_EQ(failures.size(), 1U);
    ASSERT_TRUE(failures[0].cause);
    EXPECT_EQ(failures[0].cause->error_code, "E010");
    const std::string& text = failures[0].cause->text;
    if (status != 200) {
      EXPECT_TRUE(text.starts_with("HTTP 500: ")) << text;
    }
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    for (const auto& one : spoken(league, "P01", Direction::kIn, Kind::kRequest, "GAME_ERROR"))
      EXPECT_EQ(one.message["error_code"], "E010");
    for (const auto& line : league.operator_lines)
      EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
    EXPECT_EQ(lines_with(league, "CHOOSE_PARITY_CALL: E010 INVALID_REPLY, 3 times ("), 1);
  }
}

TEST(States, ARefereeThatRefusesLosesTheMatchAtOnce) {
  LeagueFixture league({.players = 8, .referees = 2});
  league.script("REF01").on(
      "ROUND_ANNOUNCEMENT",
      Deviation::bytes(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no\u0007"}})"));
  league.register_all();
  const auto begin = league.time.steady_now();
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  for (const auto& one : events_of<MatchReported>(league)) EXPECT_EQ(one.referee, 1);
  EXPECT_LT(league.time.steady_now() - begin, seconds(30)) << "nobody waited for a time limit";
  EXPECT_GE(lines_with(league, "! ASSIGNMENT_REFUSED: REF01 'bot_REF01' has refused "), 1);
  EXPECT_GE(lines_with(league, "which refused its assignment"), 1);
}

json operator_call(LeagueFixture& league, const std::string& tool, const std::string& agent) {
  return league.call("league_manager", tool,
                     {{"operator_key", LeagueFixture::kOperatorKey}, {"agent_id", agent}});
}

TEST(States, TheOperatorShutsDownAndRestores) {
  LeagueFixture league({.players = 8});
  league.register_all();
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 2; }));
  EXPECT_EQ(league.call("league_manager", "shut_down_agent",
                        {{"agent_id", "P01"}})["result"]["error_code"],
            "E011");
  EXPECT_EQ(operator_call(league, "shut_down_agent", "P77")["result"]["error_code"], "E023");
  EXPECT_EQ(operator_call(league, "shut_down_agent", "P01")["result"]["status"], "ok");
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 5; }));
  EXPECT_EQ(operator_call(league, "restore_agent", "P01")["result"]["status"], "ok");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  const int lost = league.status()["technical_losses"].get<int>();
  EXPECT_GE(lost, 2);
  EXPECT_LE(lost, 4);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)),
            (Changes{"SHUTDOWN SHUT_DOWN_BY_OPERATOR", "ACTIVE RESTORED_BY_OPERATOR"}));
  EXPECT_EQ(told(league, "P01"), (Changes{"SHUTDOWN", "ACTIVE"}));
}

TEST(States, TheOperatorFreesASeatBeforeTheStart) {
  LeagueFixture league({.players = 3});
  const auto operate = [&league](const std::string& act) {
    return league.call("league_manager", "operate_league",
                       {{"operator_key", LeagueFixture::kOperatorKey}, {"act", act}});
  };
  EXPECT_EQ(operate("PAUSE")["result"]["status"], "ok");
  league.register_all();
  EXPECT_EQ(operator_call(league, "shut_down_agent", "P01")["result"]["status"], "ok");
  EXPECT_EQ(league.status()["players"], 2);
  EXPECT_EQ(operator_call(league, "shut_down_agent", "P01")["result"]["error_code"], "E023");
  ASSERT_TRUE(league.run_until([&] { return !told(league, "P01").empty(); }));
  EXPECT_EQ(told(league, "P01"), Changes{"SHUTDOWN"});
}

TEST(States, APlayerMayWithdrawWithItsOwnTokenOnly) {
  LeagueFixture league({.players = 6});
  league.register_all();
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 2; }));
  auto withdraw = [&](const std::string& whose) {
    return league.call("league_manager", "withdraw",
                       {{"sender", "player:P01"},
                        {"auth_token", league.token_of(whose).reveal()},
                        {"reason", "tired\n"}});
  };
  EXPECT_EQ(withdraw("P02")["result"]["error_code"], "E012");
  EXPECT_EQ(withdraw("REF01")["result"]["error_code"], "E012");
  EXPECT_EQ(withdraw("P01")["result"]["status"], "ok");
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(changes_of(league, AgentRef::player(0)), Changes{"SHUTDOWN WITHDRAWN"});
  EXPECT_EQ(lines_with(league, "is SHUTDOWN (WITHDRAWN: tired?)"), 1);
}

TEST(States, AreShownToEverybody) {
  LeagueFixture league({.players = 4});
  league.register_all();
  league.disconnect("P02");
  ASSERT_TRUE(league.play());
  auto answer = league.call("league_manager", "get_agents", json::object())["result"];
  EXPECT_EQ(answer["total_agents"], 5);
  ASSERT_EQ(answer["agents"].size(), 5U);
  EXPECT_EQ(answer["agents"][0]["agent_id"], "REF01");
  const auto& dead = answer["agents"][2];
  EXPECT_EQ(dead["agent_id"], "P02");
  EXPECT_EQ(dead["state"], "SUSPENDED");
  EXPECT_EQ(dead["reason"], "FAILED_MATCHES");
  EXPECT_EQ(dead["failed_matches"], 3);
  EXPECT_TRUE(dead["detail"].get<std::string>().starts_with("3 matches in a row lost"));
  auto page = league.call("league_manager", "get_agents", {{"offset", 4}, {"limit", 9}})["result"];
  ASSERT_EQ(page["agents"].size(), 1U);
  EXPECT_EQ(page["agents"][0]["agent_id"], "P04");
}

TEST(Reports, EachAgentGetsItsOwnWithItsOwnToken) {
  LeagueFixture league({.players = 4});
  league.register_all();
  league.disconnect("P02");
  ASSERT_TRUE(league.play());
  auto report = [&](const std::string& sender, const std::string& token) {
    return league.call("league_manager", "get_my_report",
                       {{"sender", sender}, {"auth_token", token}})["result"];
  };
  auto own = report("player:P02", league.token_of("P02").reveal());
  EXPECT_EQ(own["agent_id"], "P02");
  EXPECT_EQ(own["state"], "SUSPENDED");
  EXPECT_EQ(own["reason"], "FAILED_MATCHES");
  ASSERT_GE(own["total_faults"], 3) << own;
  EXPECT_EQ(own["faults"][0]["error_code"], "E009");
  EXPECT_EQ(own["faults"][0]["clause"], "6.2");
  EXPECT_TRUE(std::ranges::any_of(own["faults"],
                                  [](const json& fault) { return fault["lost_match"] == true; }));
  auto other = report("player:P01", league.token_of("P01").reveal());
  EXPECT_EQ(other["total_faults"], 0) << other;
  EXPECT_GE(other["latencies"]["count"], 4) << "two answers in each match that was played";
  EXPECT_EQ(report("referee:REF01", league.token_of("REF01").reveal())["agent_id"], "REF01");

  EXPECT_EQ(report("player:P02", league.token_of("P01").reveal())["error_code"], "E012");
  EXPECT_EQ(report("player:P99", league.token_of("P01").reveal())["error_code"], "E012");
  EXPECT_EQ(report("player:P02", "tok_p02_guessed")["error_code"], "E012");
  EXPECT_EQ(report("player:P02", "")["error_code"], "E011");
  EXPECT_EQ(report("", league.token_of("P02").reveal())["error_code"], "E012");
  for (int i = 0; i < 1000; ++i) (void)report("player:P02", "tok_p02_guessed");
  EXPECT_EQ(report("player:P02", league.token_of("P02").reveal()), own)
      << "a stranger's flood adds nothing";
}

TEST(Start, TheRegistrationWindowStartsTheLeagueWithWhoeverIsIn) {
  LeagueFixture league(
      {.players = 4, .players_expected = 30, .registration_window = std::chrono::minutes(1)});
  league.register_all();
  league.pass(seconds(30));
  EXPECT_EQ(league.status()["state"], "REGISTERING");
  ASSERT_TRUE(league.play());
  EXPECT_EQ(league.status()["matches_completed"], 6);
}

TEST(Start, AWindowThatClosesTooEarlyIsToldAndTheLeagueStartsWhenItCan) {
  LeagueFixture league(
      {.players = 2, .players_expected = 30, .registration_window = std::chrono::minutes(1)});
  league.pass(seconds(61));
  EXPECT_EQ(
      lines_with(league,
                 "! CANNOT_START: the registration window is over and the league "
                 "cannot start yet: a league needs at least 2 players and 1 referee; registered "
                 "players: 0, referees: 0"),
      1);
  ASSERT_TRUE(league.play());
  EXPECT_EQ(lines_with(league, "! CANNOT_START"), 3) << "and again when it changes";
  EXPECT_EQ(league.status()["matches_completed"], 1);
}

TEST(Start, AScheduleOfNoRoundIsAnError) {
  LeagueFixture league({.players = 4});
  league.register_all();
  ASSERT_TRUE(league.run_until([&] { return round_of(league) == 1; }));
  for (int round : {4, 1000}) {
    auto answer = league.call(
        "league_manager", "league_query",
        league.message("LEAGUE_QUERY", "player:P01", league.token_of("P01").reveal(),
                       {{"query_type", "GET_SCHEDULE"}, {"query_params", {{"round_id", round}}}}));
    EXPECT_EQ(answer["result"]["success"], false) << answer;
    EXPECT_EQ(answer["result"]["error"]["error_code"], "E023") << answer;
  }
}

TEST(End, ASharedFirstPlaceIsShownAsShared) {
  LeagueFixture league({.players = 4, .strategies = {"even"}});
  ASSERT_TRUE(league.play());
  EXPECT_EQ(league.status()["shared_first_place"], json({"P01", "P02", "P03", "P04"}));
  auto told = spoken(league, "P02", Direction::kIn, Kind::kRequest, "LEAGUE_COMPLETED");
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].message["champion"]["player_id"], "P01");
  EXPECT_EQ(told[0].message["champion"]["shared"], true);
}

}  // namespace
}  // namespace league::testing
