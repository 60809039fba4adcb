// Other games than Even/Odd through the same manager, referee and player: what they play is data.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "game/files/game_file.h"
#include "tests/in_process/league_checks.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/rules/audit_verify.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;

LeagueFixtureOptions pennies(int players) {
  LeagueFixtureOptions options;
  options.players = players;
  options.referees = 2;
  options.game = *game::Games::standard().find("matching_pennies");
  return options;
}

TEST(MatchingPennies, PlaysAWholeLeague) {
  LeagueFixture league(pennies(6));
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  int reports = 0;
  for (const char* referee : {"REF01", "REF02"}) {
    for (const auto& one :
         spoken(league, referee, Direction::kOut, Kind::kRequest, "MATCH_RESULT_REPORT")) {
      ++reports;
      EXPECT_EQ(one.message["game_type"], "matching_pennies");
      const json& result = one.message["result"];
      EXPECT_TRUE(result["details"]["drawn_number"].is_null());
      EXPECT_TRUE(result["details"]["number_parity"].is_null());
      EXPECT_FALSE(result["winner"].is_null()) << "nobody draws at matching pennies";
      std::set<std::string> said;
      for (const auto& choice : result["details"]["choices"]) said.insert(choice);
      for (const auto& word : said) EXPECT_TRUE(word == "heads" || word == "tails") << word;
    }
  }
  EXPECT_EQ(reports, 15);
}

TEST(MatchingPennies, HasItsOwnWords) {
  LeagueFixture league(pennies(2));
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::edit([](json& response) {
                            response["parity_choice"] = "even";
                          }));
  ASSERT_TRUE(league.play());
  EXPECT_TRUE(ending_of(league, "R1M1").ends_with(" INVALID_CHOICE")) << ending_of(league, "R1M1");
  auto told = spoken(league, "P01", Direction::kIn, Kind::kRequest, "GAME_ERROR");
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told[0].message["error_code"], "E004");
  EXPECT_NE(told[0].message["error_description"].get<std::string>().find("\"heads\" or \"tails\""),
            std::string::npos);
}

/// A report of REF01 on the one match, in which the players say different words: player B wins.
json report_with_winner(LeagueFixture& league, game::Side side) {
  const json assigned =
      spoken(league, "REF01", Direction::kIn, Kind::kRequest, "ROUND_ANNOUNCEMENT")
          .at(0)
          .message["matches"][0];
  const auto id_of = [&](game::Side one) -> std::string {
    return assigned[one == game::Side::kA ? "player_A_id" : "player_B_id"];
  };
  const std::string winner = id_of(side);
  const std::string loser = id_of(other(side));
  const json result = {{"winner", winner},
                       {"score", {{winner, 3}, {loser, 0}}},
                       {"details",
                        {{"drawn_number", nullptr},
                         {"number_parity", nullptr},
                         {"choices", {{"P01", "heads"}, {"P02", "tails"}}},
                         {"attempt", 1},
                         {"termination", "NORMAL"},
                         {"draw_version", 1},
                         {"draw_proof", assigned["draw_seed"]}}}};
  const json report = league.message("MATCH_RESULT_REPORT", "referee:REF01",
                                     std::string(league.token_of("REF01").reveal()),
                                     {{"conversation_id", assigned["conversation_id"]},
                                      {"round_id", 1},
                                      {"match_id", "R1M1"},
                                      {"game_type", "matching_pennies"},
                                      {"result", result}});
  return league.call("league_manager", "report_match_result", report)["result"];
}

TEST(MatchingPennies, IsJudgedByTheManager) {
  auto options = pennies(2);
  options.referees = 1;
  LeagueFixture league(options);
  league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence());
  league.register_all();
  ASSERT_TRUE(
      league.run_until([&] { return league.script("P01").arrived("CHOOSE_PARITY_CALL") > 0; }));
  league.settle();
  const json refused = report_with_winner(league, game::Side::kA);
  EXPECT_EQ(refused["error_code"], "E035") << refused;
  const json accepted = report_with_winner(league, game::Side::kB);
  EXPECT_FALSE(accepted.contains("error_code")) << accepted;
  const auto reported = events_of<league_manager::events::MatchReported>(league);
  ASSERT_EQ(reported.size(), 1U);
  EXPECT_EQ(reported[0].result.outcome, game::Outcome::kPlayerBWins);
  EXPECT_EQ(reported[0].result.drawn_number, std::nullopt);
}

/// What `league audit verify` says of the league: faults, what is missing, incidents and notes.
std::set<std::string> audited(LeagueFixture& league) {
  league.close_files();
  auto report = tools::auditor::verify_directory(league.options.directory, {});
  if (!report) return {report.error().message};
  EXPECT_GT(report->records, 40U);
  std::set<std::string> rules(report->notes.begin(), report->notes.end());
  for (const auto* list : {&report->faults, &report->missing, &report->incidents}) {
    for (const auto& found : *list) rules.insert(found.rule + " " + found.text);
  }
  return rules;
}

TEST(MatchingPennies, IsVerified) {
  const TemporaryDirectory directory;
  auto options = pennies(4);
  options.directory = directory.path();
  LeagueFixture league(options);
  ASSERT_TRUE(league.play());
  const auto found = audited(league);
  // The manager of these tests does not sign the end of its leagues.
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found.begin()->starts_with("attestation.absent ")) << *found.begin();
}

/// The player's own sealed log has "heads"; its referee hands on and reports "tails".
TEST(MatchingPennies, AnInventedChoiceIsFound) {
  const TemporaryDirectory directory;
  auto options = pennies(2);
  options.referees = 1;
  options.directory = directory.path();
  LeagueFixture league(options);
  league.register_all();
  const json report = [&] {
    league.script("P01").on("CHOOSE_PARITY_CALL", Deviation::silence());
    EXPECT_TRUE(
        league.run_until([&] { return league.script("P01").arrived("CHOOSE_PARITY_CALL") > 0; }));
    league.settle();
    return report_with_winner(league, game::Side::kB);
  }();
  EXPECT_FALSE(report.contains("error_code")) << report;
  const auto found = audited(league);
  EXPECT_TRUE(std::ranges::any_of(found, [](const std::string& one) {
    return one.starts_with("choice.");
  })) << ::testing::PrintToString(found);
}

LeagueFixtureOptions league_of(const char* game, int players) {
  LeagueFixtureOptions options;
  options.players = players;
  options.receipts = true;
  options.game = *game::Games::standard().find(game);
  return options;
}

/// Points by strategy, in the order of the players.
std::vector<std::pair<std::string, int>> table_of(const LeagueFixture& league) {
  std::vector<std::pair<std::string, int>> table;
  league.read([&](const league_manager::League& state) {
    for (int i = 0; i < league.options.players; ++i)
      table.emplace_back(league.options.strategies[static_cast<std::size_t>(i)],
                         state.standings().tally(i).points);
  });
  return table;
}

/// Ten players, mostly reciprocating ones, meet ten times each. Axelrod (1984): who is nice and
/// retaliates comes out above who defects always; who is nice to everybody is exploited; who never
/// defects first loses little; and noise comes last.
TEST(PrisonersDilemma, KnownStrategiesComeOutAsInTheLiterature) {
  auto options = league_of("prisoners_dilemma", 10);
  options.meetings = 10;
  options.strategies = {
      "tit_for_tat",         "tit_for_tat",         "tit_for_tat", "grim",   "grim",
      "win_stay_lose_shift", "win_stay_lose_shift", "cooperate",   "defect", "random"};
  LeagueFixture league(options);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  const auto table = table_of(league);
  const int cooperate = table[7].second;
  const int defect = table[8].second;
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_GT(table[i].second, cooperate) << table[i].first << " retaliates";
    EXPECT_GT(table[i].second, defect) << table[i].first;
  }
  EXPECT_GT(cooperate, table[9].second);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_GT(table[i].second, table[9].second);
}

/// What two strategies get from ten meetings.
std::pair<int, int> duel(const std::string& first, const std::string& second) {
  auto options = league_of("prisoners_dilemma", 2);
  options.meetings = 10;
  options.strategies = {first, second};
  LeagueFixture league(options);
  EXPECT_TRUE(league.play());
  const auto table = table_of(league);
  return {table[0].second, table[1].second};
}

TEST(PrisonersDilemma, TwoStrategiesGetWhatCanBeComputedByHand) {
  using Score = std::pair<int, int>;
  EXPECT_EQ(duel("cooperate", "defect"), Score(0, 50)) << "who always cooperates is exploited";
  EXPECT_EQ(duel("tit_for_tat", "defect"), Score(9, 14)) << "exploited once";
  EXPECT_EQ(duel("grim", "defect"), Score(9, 14));
  EXPECT_EQ(duel("win_stay_lose_shift", "defect"), Score(5, 30)) << "tries again and again";
  EXPECT_EQ(duel("tit_for_tat", "grim"), Score(30, 30));
  EXPECT_EQ(duel("tit_for_tat", "win_stay_lose_shift"), Score(30, 30));
  EXPECT_EQ(duel("tit_for_tat", "alternate"), Score(23, 28));
  EXPECT_EQ(duel("defect", "defect"), Score(10, 10));
}

TEST(Games, EachCallNamesTheWordsAndTheEarlierMeetings) {
  auto options = league_of("rock_paper_scissors", 2);
  options.meetings = 3;
  options.strategies = {"rock", "paper"};
  LeagueFixture league(options);
  ASSERT_TRUE(league.play());
  for (const char* type : {"GAME_INVITATION", "CHOOSE_PARITY_CALL"}) {
    const auto calls = spoken(league, "P01", Direction::kIn, Kind::kRequest, type);
    ASSERT_EQ(calls.size(), 3U) << type;
    json history = json::array();
    for (std::size_t meeting = 0; meeting < 3; ++meeting) {
      const json& context = calls[meeting].message["context"];
      EXPECT_EQ(context["game"], (json{{"choices", {"rock", "paper", "scissors"}},
                                       {"meeting", meeting + 1},
                                       {"meetings", 3}}));
      EXPECT_EQ(context.value("history", json::array()), history) << "roles change, words do not";
      history.push_back({{"your_choice", "rock"}, {"opponent_choice", "paper"}});
    }
  }
}

/// The same game, played to win: a player that sees through a constant one.
TEST(Games, APredictorBeatsAConstantPlayer) {
  auto options = league_of("rock_paper_scissors", 2);
  options.meetings = 20;
  for (const char* predictor : {"markov", "frequency"}) {
    options.strategies = {predictor, "scissors"};
    LeagueFixture league(options);
    ASSERT_TRUE(league.play());
    const auto table = table_of(league);
    EXPECT_GE(table[0].second, 19 * 3) << predictor << " answers with rock from the second time on";
  }
}

/// A fifth game is a file: no code knows it, and no agent is told of it by hand.
TEST(Games, AFifthGameIsAFile) {
  const TemporaryDirectory directory;
  const auto file = directory.path() / "stag_hunt.json";
  std::ofstream(file) << R"({
    "game_type": "stag_hunt", "choices": ["stag", "hare"],
    "payoffs": {"stag": {"stag": 9, "hare": 0}, "hare": {"stag": 7, "hare": 5}},
    "technical": {"winner": 7, "loser": 0, "both": 0}})";
  game::Games games = game::Games::standard();
  LeagueFixtureOptions options;
  options.directory = directory.path();
  options.receipts = true;
  options.meetings = 2;
  options.strategies = {"tit_for_tat", "markov", "random", "win_stay_lose_shift"};
  options.game = *game::files::find_game(games, file.string());
  LeagueFixture league(options);
  ASSERT_TRUE(league.play());
  expect_sound(league);
  EXPECT_EQ(league.status()["technical_losses"], 0);
  const auto registered =
      spoken(league, "P01", Direction::kIn, Kind::kReply, "LEAGUE_REGISTER_RESPONSE");
  ASSERT_FALSE(registered.empty());
  EXPECT_EQ(registered[0].message["game"], options.game->to_json());
  const auto found = audited(league);
  ASSERT_EQ(found.size(), 1U) << ::testing::PrintToString(found);
  EXPECT_TRUE(found.begin()->starts_with("attestation.absent ")) << *found.begin();
}

}  // namespace
}  // namespace league::testing
