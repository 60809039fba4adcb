#include "tools/league/up/live_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

LeagueProgress running() {
  return parse_progress({{"league_id", "cup"},
                         {"state", "RUNNING"},
                         {"players", 30},
                         {"current_round", 3},
                         {"total_rounds", 29},
                         {"total_matches", 435},
                         {"matches_completed", 40},
                         {"technical_losses", 2},
                         {"champion", nullptr},
                         {"started_at", "2025-01-15T10:30:00.000000Z"},
                         {"completed_at", nullptr}});
}

std::vector<TableRow> rows(int count) {
  std::vector<TableRow> all;
  for (int i = 1; i <= count; ++i)
    all.push_back({.rank = i, .player_id = "P" + std::to_string(i), .display_name = "name"});
  return all;
}

TEST(LiveView, ShowsWhoIsMissingBeforeTheStart) {
  auto progress = parse_progress({{"league_id", "cup"},
                                  {"state", "REGISTERING"},
                                  {"players", 3},
                                  {"players_expected", 4},
                                  {"referees", 1},
                                  {"referees_expected", 2}});
  auto lines = live_lines(progress, {}, 0, {});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "cup  waiting: 3 of 4 players, 1 of 2 referees registered");
}

TEST(LiveView, ShowsFiguresBarAndTable) {
  auto lines = live_lines(running(), rows(15), 2, {.width = 100, .height = 30});
  ASSERT_GE(lines.size(), 4U);
  EXPECT_EQ(lines[0], "cup  round 3 of 29, 40 of 435 matches, 2 technical losses");
  EXPECT_NE(lines[1].find("20.0 matches/s"), std::string::npos);
  EXPECT_EQ(lines.back(), "      ... and 15 more");
}

TEST(LiveView, FitsEveryScreen) {
  for (std::size_t width : {1U, 10U, 40U, 80U, 200U}) {
    for (std::size_t height : {1U, 5U, 8U, 24U, 60U}) {
      auto lines = live_lines(running(), rows(15), 2, {width, height});
      for (const auto& line : lines) EXPECT_LE(display_width(line), width);
      EXPECT_LT(lines.size(), std::max<std::size_t>(height, 3)) << width << "x" << height;
    }
  }
}

TEST(LiveView, PlainLineNamesRoundsMatchesAndRate) {
  EXPECT_EQ(progress_line(running(), 2),
            "round 3 of 29, 40 of 435 matches, 2 technical losses, 20.0 matches/s");
  auto paused = running();
  paused.is_paused = true;
  EXPECT_EQ(progress_line(paused, 2).substr(0, 21), "paused: round 3 of 29");
}

TEST(LiveView, SecondsEndWithTheLeague) {
  auto progress = running();
  auto now = core::UtcTimestamp::parse("2025-01-15T10:30:05Z");
  ASSERT_TRUE(now);
  EXPECT_DOUBLE_EQ(progress.seconds(*now), 5);
  progress.completed_at = *core::UtcTimestamp::parse("2025-01-15T10:30:01.500000Z");
  EXPECT_DOUBLE_EQ(progress.seconds(*now), 1.5);
  EXPECT_DOUBLE_EQ(LeagueProgress{}.seconds(*now), 0);
}

TEST(LiveView, AnAnswerOfSomethingElseIsNoProgress) {
  EXPECT_FALSE(parse_progress({{"state", 7}, {"players", "many"}}).has_started());
  EXPECT_EQ(parse_progress(nlohmann::json::array()).players, 0);
}

}  // namespace
}  // namespace league::tools
