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
  picture.agents = {"id", "P01 \x1b[2J"};
  return picture;
}

TEST(WatchView, FitsEveryScreen) {
  const auto picture = picture_of(30);
  for (std::size_t width : {0, 1, 5, 20, 39, 80, 300}) {
    for (std::size_t height : {0, 1, 2, 3, 6, 24, 100}) {
      for (bool shows_agents : {false, true}) {
        const auto lines = watch_lines(picture, {.shows_agents = shows_agents}, {width, height});
        EXPECT_LE(lines.size(), std::max<std::size_t>(1, height)) << width << "x" << height;
        for (const auto& line : lines)
          EXPECT_LE(display_width(line), std::max<std::size_t>(1, width)) << line;
      }
    }
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
  progress.matches_completed = 100;
  EXPECT_EQ(time_left(progress, 60), "");
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
