#include "tools/league/up/watch_view.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/league/up/table_text.h"

namespace league::tools {
namespace {

WatchPicture picture_of(int players) {
  WatchPicture picture;
  picture.progress.league_id = "league_2026";
  picture.progress.state = "RUNNING";
  picture.progress.started_at = core::UtcTimestamp();
  picture.progress.players = players;
  picture.progress.total_matches = 100;
  picture.progress.matches_completed = 25;
  picture.seconds = 60;
  for (int i = 0; i < players; ++i)
    picture.table.push_back({.rank = i + 1,
                             .player_id = "P" + std::to_string(i),
                             .display_name = "\x1b[31m\xE2\x80\xAE" + std::string(40, 'x')});
  picture.lines = {"id", "P01 \x1b[2J"};
  return picture;
}

TEST(WatchView, FitsEveryScreen) {
  const auto picture = picture_of(30);
  for (std::size_t width : {0U, 1U, 5U, 20U, 39U, 80U, 300U}) {
    for (std::size_t height : {0U, 1U, 2U, 3U, 6U, 24U, 100U}) {
      for (auto view :
           {WatchView::kTable, WatchView::kMatches, WatchView::kAgents, WatchView::kNews}) {
        const auto lines = watch_lines(picture, {.view = view}, {width, height});
        EXPECT_LE(lines.size(), std::max<std::size_t>(1, height)) << width << "x" << height;
        for (const auto& line : lines)
          EXPECT_LE(display_width(line), std::max<std::size_t>(1, width)) << line;
      }
    }
  }
}

TEST(WatchView, CutsNeitherFiguresNorKeysAndSaysWhyTheLeagueIsPaused) {
  auto picture = picture_of(30);
  picture.progress.league_id = "league_2026_autumn_even_odd";
  picture.progress.technical_losses = 52;
  picture.progress.total_rounds = 29;
  picture.progress.is_paused = true;
  picture.progress.pause_reason = "the network of room 4 is down";
  for (std::size_t width : {80U, 50U}) {
    std::string all;
    for (const auto& line : watch_lines(picture, {.view = WatchView::kMatches}, {width, 24}))
      all += line + "\n";
    for (const char* shown : {"52 technical losses", "room 4 is down", "[h/l] round", "[q] quit"})
      EXPECT_NE(all.find(shown), std::string::npos) << width << ": " << all;
  }
}

TEST(WatchView, ScrollsToTheLastRowAndNoFurther) {
  const auto picture = picture_of(30);
  const auto lines = watch_lines(picture, {.first = 1000}, {80, 12});
  ASSERT_GT(lines.size(), 2U);
  EXPECT_NE(lines[lines.size() - 2].find("P29"), std::string::npos);
}

TEST(WatchView, ColoursAreAskedForAndNamesBringNone) {
  const auto picture = picture_of(3);
  const auto all_of = [&](bool has_colours) {
    std::string all;
    for (const auto& line : watch_lines(picture, {.has_colours = has_colours}, {80, 24}))
      all += line + "\n";
    return all;
  };
  EXPECT_EQ(all_of(false).find('\x1b'), std::string::npos);
  EXPECT_NE(all_of(true).find("\x1b[1m"), std::string::npos);
  EXPECT_EQ(all_of(true).find("\x1b[31m"), std::string::npos);
}

TEST(WatchView, SaysHowLongItStillTakes) {
  LeagueProgress progress;
  progress.total_matches = 100;
  EXPECT_EQ(time_left(progress, 60), "");
  progress.matches_completed = 50;
  EXPECT_EQ(time_left(progress, 60), "about 61 s left");
  EXPECT_EQ(time_left(progress, 600), "about 10 min left");
  progress.is_paused = true;
  EXPECT_EQ(time_left(progress, 600), "");
  progress.is_paused = false;
  progress.matches_completed = 100;
  EXPECT_EQ(time_left(progress, 60), "");
}

TEST(WatchView, KeysChooseAViewAndARound) {
  auto picture = picture_of(30);
  picture.progress.current_round = 3;
  WatchOptions options;
  EXPECT_TRUE(options.obey('j', picture));
  EXPECT_EQ(options.first, 5U);
  EXPECT_TRUE(options.obey('m', picture));
  EXPECT_EQ(options.view, WatchView::kMatches);
  EXPECT_EQ(options.first, 0U);
  EXPECT_EQ(shown_round(picture.progress, options), 3);
  for (int expected : {2, 1, 1}) {
    EXPECT_TRUE(options.obey('h', picture));
    EXPECT_EQ(shown_round(picture.progress, options), expected);
  }
  EXPECT_TRUE(options.obey('l', picture));
  EXPECT_EQ(shown_round(picture.progress, options), 2);
  EXPECT_TRUE(options.obey('n', picture));
  EXPECT_EQ(options.view, WatchView::kNews);
  EXPECT_TRUE(options.obey('?', picture));
  EXPECT_FALSE(options.obey('q', picture));
  EXPECT_EQ(shown_round(LeagueProgress{}, options), 0);
}

TEST(WatchView, MatchesNameTheirPlayersAndHowTheyEnded) {
  const std::vector<TableRow> table{{.player_id = "P01", .display_name = "alpha"},
                                    {.player_id = "P02", .display_name = "b\x1b[2J"}};
  const auto match = [](const char* status, const nlohmann::json& winner) {
    return nlohmann::json{{"match_id", "R2M1"},    {"player_A_id", "P01"}, {"player_B_id", "P02"},
                          {"referee_id", "REF01"}, {"status", status},     {"winner", winner}};
  };
  auto technical = match("COMPLETED", "P02");
  technical["technical"] = true;
  auto nobody = match("COMPLETED", nullptr);
  nobody["technical"] = true;
  auto voided = match("COMPLETED", "P01");
  voided["void"] = true;
  const auto lines = match_lines(
      {{"round_id", 2},
       {"total_rounds", 3},
       {"matches",
        {match("PENDING", nullptr), match("IN_PROGRESS", nullptr), match("COMPLETED", nullptr),
         match("COMPLETED", "P01"), technical, nobody, voided, "no object"}}},
      table);
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_EQ(lines[0], "match     round 2 of 3");
  EXPECT_EQ(lines[1], "R2M1      P01 alpha             P02 b?[2J             REF01  waits");
  const std::vector<std::string> endings{
      "in play", "a draw", "P01 wins", "P02 wins, technically", "nobody wins, technically", "void"};
  for (std::size_t i = 0; i < endings.size(); ++i)
    EXPECT_TRUE(lines[i + 2].ends_with("REF01  " + endings[i])) << lines[i + 2];
  EXPECT_EQ(match_lines(nlohmann::json::object(), table).size(), 1U);
}

TEST(WatchView, TheLastNewsComesFirst) {
  const auto lines = news_lines(
      {{"lines",
        {{{"at", "2026-01-15T10:30:00.000000Z"}, {"warning", false}, {"text", "round 1 starts"}},
         {{"at", "2026-01-15T10:30:01.000000Z"}, {"warning", true}, {"text", "P01 \x1b[2J"}},
         5}}});
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1], "10:30:01 ! P01 ?[2J");
  EXPECT_EQ(lines[2], "10:30:00   round 1 starts");
}

TEST(WatchView, AgentsAreMadeFitForATerminal) {
  const auto lines = agent_lines({{{"agent_id", "P01"},
                                   {"display_name", "a\x1b[2Jb"},
                                   {"state", "SUSPENDED"},
                                   {"failed_matches", 3},
                                   {"reason", "FAILED_MATCHES"},
                                   {"detail", "E001"}},
                                  "no object"});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1],
            "P01    a?[2Jb                SUSPENDED   3       ?         FAILED_MATCHES: E001");
}

}  // namespace
}  // namespace league::tools
