#include "tools/league/up/result_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace league::tools {
namespace {

TournamentOutcome two_players() {
  TournamentOutcome outcome;
  outcome.progress = {
      .league_id = "cup",
      .state = "COMPLETED",
      .players = 2,
      .referees = 1,
      .total_rounds = 1,
      .total_matches = 1,
      .matches_completed = 1,
      .technical_losses = 1,
      .champion = TableRow{.player_id = "P01", .display_name = "alpha", .points = 3}};
  outcome.standings = {
      {.rank = 1, .player_id = "P01", .display_name = "alpha", .played = 1, .wins = 1, .points = 3},
      {.rank = 2, .player_id = "P02", .display_name = "be\x1bta", .played = 1, .losses = 1}};
  outcome.technical_losses = {{"P02", "GAME_INVITATION: E001 TIMEOUT_ERROR", {"R1M1"}}};
  outcome.seconds = 0.5;
  return outcome;
}

const RunDirectories kDirectories{"run/data", "run/logs"};

TEST(ResultReport, JsonHasThePublishedKeys) {
  auto result = result_json(two_players(), kDirectories);
  for (const char* key :
       {"league_id", "players", "referees", "rounds", "matches", "technical_losses", "champion",
        "standings", "seconds", "matches_per_second", "logs", "data"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_EQ(result["champion"]["display_name"], "alpha");
  EXPECT_EQ(result["standings"][0]["points"], 3);
  EXPECT_EQ(result["matches_per_second"], 2.0);
  EXPECT_EQ(result["technical_loss_reasons"][0]["matches"][0], "R1M1");
  EXPECT_EQ(result["logs"], "run/logs");
}

TEST(ResultReport, TheLinesSumToTheNumberOfLosses) {
  auto outcome = two_players();
  const auto printed = [&outcome] {
    std::ostringstream out;
    print_result(outcome, kDirectories, 80, out);
    return out.str();
  };
  EXPECT_NE(printed().find("technical losses: 1\n"), std::string::npos) << printed();
  outcome.technical_losses.push_back({"P01", "GAME_INVITATION: E001 TIMEOUT_ERROR", {"R1M1"}});
  EXPECT_NE(printed().find("technical losses: 2 in 1 match\n"), std::string::npos) << printed();
}

TEST(ResultReport, AChampionByLuckIsNotDecided) {
  auto outcome = two_players();
  outcome.technical_losses.clear();
  league_manager::table::Figures figures{
      .players = {{{.rating = 1600, .error = 200, .p_first = 0.8}},
                  {{.rating = 1400, .error = 200, .p_first = 0.2}}},
      .luck = 0.5,
      .matches = 1};
  take_figures(outcome, figures);
  const auto result = result_json(outcome, kDirectories);
  EXPECT_EQ(result["champion"]["decided"], false);
  EXPECT_EQ(result["champion"]["p_first"], 0.8);
  EXPECT_EQ(result["standings"][1]["rating"], 1400);
  EXPECT_EQ(result["luck"], 0.5);
  std::ostringstream out;
  print_result(outcome, kDirectories, 120, out);
  EXPECT_NE(out.str().find("first, not decided: alpha (P01) with 3 points"), std::string::npos);
  EXPECT_NE(out.str().find("\nThis table may be luck: "), std::string::npos);
  figures.players[0]->p_first = 0.97;
  take_figures(outcome, figures);
  EXPECT_EQ(champion_line(outcome.progress), "champion: alpha (P01) with 3 points");
  figures.players[0].reset();  // all its points are from technical losses of others
  take_figures(outcome, figures);
  EXPECT_EQ(result_json(outcome, kDirectories)["champion"]["decided"], false);
}

TEST(ResultReport, AnInterruptedLeagueSaysSo) {
  auto outcome = two_players();
  outcome.was_interrupted = true;
  outcome.progress.champion.reset();
  outcome.progress.state = "RUNNING";
  auto result = result_json(outcome, kDirectories);
  EXPECT_EQ(result["state"], "INTERRUPTED");
  EXPECT_TRUE(result["champion"].is_null());
  std::ostringstream out;
  print_result(outcome, kDirectories, 80, out);
  EXPECT_NE(out.str().find("interrupted: 1 of 1 matches were played"), std::string::npos);
}

TEST(ResultReport, TextNamesChampionLossesAndLogs) {
  std::ostringstream out;
  print_result(two_players(), kDirectories, 80, out);
  std::string text = out.str();
  EXPECT_NE(text.find("champion: alpha (P01) with 3 points"), std::string::npos);
  EXPECT_NE(text.find("be?ta (P02), 1 match, first R1M1: GAME_INVITATION: E001 TIMEOUT_ERROR"),
            std::string::npos);
  EXPECT_NE(text.find("logs: run/logs"), std::string::npos);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(ResultReport, ASharedFirstPlaceIsShownAsShared) {
  auto outcome = two_players();
  outcome.progress.shares_first_place = {"P01", "P02"};
  std::ostringstream out;
  print_result(outcome, kDirectories, 80, out);
  EXPECT_NE(out.str().find("with 3 points; first place is shared with P02\n"), std::string::npos)
      << out.str();
  EXPECT_EQ(result_json(outcome, kDirectories)["shared_first_place"].size(), 2U);
}

TEST(ResultReport, DisputedMatchesAreNamed) {
  auto outcome = two_players();
  std::ostringstream undisputed;
  print_result(outcome, kDirectories, 80, undisputed);
  EXPECT_EQ(undisputed.str().find("disputed"), std::string::npos);
  outcome.progress = parse_progress(
      {{"state", "COMPLETED"}, {"disputed", {{"R1M1", {"P01", "P02"}}, {"R2M1", {"P\x1b"}}}}});
  std::ostringstream out;
  print_result(outcome, kDirectories, 80, out);
  EXPECT_NE(out.str().find("disputed matches: 2 (R1M1 by P01 P02, R2M1 by P?)\n"),
            std::string::npos)
      << out.str();
  EXPECT_EQ(result_json(outcome, kDirectories)["disputed"]["R1M1"].size(), 2U);
}

}  // namespace
}  // namespace league::tools
