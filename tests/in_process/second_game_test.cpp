// A second game through the same manager, referee and player: nothing outside game/ knows which
// game is played.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/games/registry.h"
#include "tests/in_process/league_checks.h"
#include "tests/support/temporary_directory.h"
#include "tools/audit/verify/audit_verify.h"

namespace league::testing {
namespace {

using audit::record::Direction;
using audit::record::Kind;
using nlohmann::json;

LeagueFixtureOptions pennies(int players) {
  LeagueFixtureOptions options;
  options.players = players;
  options.referees = 2;
  options.games = &games_with_tests();
  options.game_type = "matching_pennies";
  return options;
}

TEST(SecondGame, PlaysAWholeLeague) {
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

TEST(SecondGame, HasItsOwnWords) {
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

TEST(SecondGame, IsJudgedByTheManager) {
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
  auto report =
      tools::auditor::verify_directory(league.options.directory, {.games = league.options.games});
  if (!report) return {report.error().message};
  EXPECT_GT(report->records, 40U);
  std::set<std::string> rules(report->notes.begin(), report->notes.end());
  for (const auto* list : {&report->faults, &report->missing, &report->incidents}) {
    for (const auto& found : *list) rules.insert(found.rule + " " + found.text);
  }
  return rules;
}

TEST(SecondGame, IsVerified) {
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
TEST(SecondGame, AnInventedChoiceIsFound) {
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

}  // namespace
}  // namespace league::testing
