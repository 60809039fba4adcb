#include "tools/league/up/table_text.h"

#include <gtest/gtest.h>

namespace league::tools {
namespace {

std::vector<TableRow> two_rows() {
  return {{.rank = 1,
           .player_id = "P01",
           .display_name = "alpha",
           .played = 3,
           .wins = 2,
           .draws = 1,
           .losses = 0,
           .points = 7},
          {.rank = 2,
           .player_id = "P100",
           .display_name = "a name that is quite long",
           .played = 3,
           .wins = 0,
           .draws = 1,
           .losses = 2,
           .points = 1}};
}

TEST(TableText, CountsColumnsAndNotBytes) {
  EXPECT_EQ(display_width("abc"), 3U);
  EXPECT_EQ(display_width("Zoë"), 3U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("e\xCC\x81"), 1U);  // a combining accent
}

TEST(TableText, CutsAtColumns) {
  EXPECT_EQ(fitted("abc", 5), "abc  ");
  EXPECT_EQ(fitted("abcdef", 4), "abc~");
  EXPECT_EQ(fitted("日本語", 4), "日~ ");
  EXPECT_EQ(fitted("abc", 0), "");
}

TEST(TableText, NobodyPaintsOnTheTerminal) {
  EXPECT_EQ(safe_text("a\x1b[2Jb\nc"), "a?[2Jb?c");
  EXPECT_EQ(safe_text("a\xC2\x9B"
                      "2J"),
            "a?2J");  // the one-byte form of ESC [
  EXPECT_EQ(safe_text("x\xE2\x80\xAEy"), "x?y");  // right-to-left override
  EXPECT_EQ(safe_text("\xFFok\xC3"), "?ok?");
  EXPECT_EQ(safe_text("Zoë 日本"), "Zoë 日本");
}

TEST(TableText, WideTableShowsAllFigures) {
  auto lines = table_lines(two_rows(), 100, 10, 2);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0], "rank  id    player                     played   won drawn  lost  points");
  EXPECT_EQ(lines[1], "   1  P01   alpha                           3     2     1     0       7");
}

TEST(TableText, NarrowTableKeepsThePoints) {
  for (std::size_t width : {40U, 50U, 60U}) {
    auto lines = table_lines(two_rows(), width, 10, 2);
    for (const auto& line : lines) EXPECT_LE(display_width(line), width) << line;
    EXPECT_NE(lines[0].find("points"), std::string::npos) << width;
    EXPECT_EQ(lines[1].back(), '7') << width;
  }
}

TEST(TableText, ShowsRatingsWhereTheyAreKnownAndFit) {
  auto rows = two_rows();
  rows[0].rating = 1612.4;
  rows[0].rating_error = 120.6;
  rows[0].p_first = 0.934;
  auto lines = table_lines(rows, 100, 10, 2);
  EXPECT_EQ(lines[0],
            "rank  id    player                     played   won drawn  lost  points"
            "  rating     ±    first");
  EXPECT_EQ(lines[1],
            "   1  P01   alpha                           3     2     1     0       7"
            "    1612   121     93 %");
  EXPECT_EQ(display_width(lines[2]), display_width(lines[1])) << "nothing is known of it";
  EXPECT_EQ(table_lines(rows, 80, 10, 2), table_lines(two_rows(), 80, 10, 2));
}

TEST(TableText, SaysHowManyRowsAreNotShown) {
  auto lines = table_lines(two_rows(), 80, 1, 50);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[2], "      ... and 49 more");
}

TEST(TableText, BarIsExact) {
  EXPECT_EQ(progress_bar(0, 4, 10), "[........]");
  EXPECT_EQ(progress_bar(2, 4, 10), "[####....]");
  EXPECT_EQ(progress_bar(9, 4, 10), "[########]");
  EXPECT_EQ(progress_bar(0, 0, 10), "[........]");
  EXPECT_EQ(progress_bar(1, 2, 2), "  ");
}

TEST(TableText, NumbersAreShort) {
  EXPECT_EQ(short_number(0.024), "0.02");
  EXPECT_EQ(short_number(12.34), "12.3");
  EXPECT_EQ(short_number(1512.4), "1512");
}

}  // namespace
}  // namespace league::tools
