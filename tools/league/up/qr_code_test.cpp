#include "tools/league/up/qr_code.h"

#include <gtest/gtest.h>

#include "common/core/crypto.h"

namespace league::tools {
namespace {

std::vector<std::string> rows_of(const QrModules& modules) {
  std::vector<std::string> rows;
  for (const auto& row : modules) {
    rows.emplace_back();
    for (const bool is_dark : row) rows.back() += is_dark ? '#' : '.';
  }
  return rows;
}

// What zbarimg has read as the given texts.
TEST(QrCode, IsReadByTelephones) {
  const std::vector<std::string> expected = {
      "#######..#..#.#######", "#.....#..###..#.....#", "#.###.#.##.##.#.###.#",
      "#.###.#..#....#.###.#", "#.###.#...##..#.###.#", "#.....#....#..#.....#",
      "#######.#.#.#.#######", "........##.##........", "###.########.##...#..",
      "###....#.#####..#...#", "..###.##....###.#.###", "#.##...###.#.#..#..#.",
      "#...#.####..##.#.#...", "........##..##.##..##", "#######.#...#.#.#.###",
      "#.....#.######..#...#", "#.###.#.##.#...#.#.#.", "#.###.#..####.####.#.",
      "#.###.#.#...#...#.#.#", "#.....#.#..#.#.###.#.", "#######.###.##...#.##"};
  EXPECT_EQ(rows_of(qr_code("http://10.0.0.5")), expected);
  const std::vector<std::pair<std::string, std::string>> digests = {
      {std::string(18, 'y'), "5fa86850b6728226aacf11a4bc5d72a6eb6ce75284d89d45c3e0e9e64458eba3"},
      {std::string(33, 'y'), "c6e6ead6da429d383d53e0a2af3ef0c3bde0ad22d6082ec99aa4491c829a0c74"},
      {std::string(54, 'y'), "2afcffe241e1cb0b3c159ba84ccc8e9ec67439b5ecae94a4741936f0bdb3c14e"},
      {std::string(106, 'x'), "7302493313416f7760a946d561c9af2a676db90388e7cc190480ad5c53e91450"}};
  for (const auto& [text, digest] : digests) {
    std::string all;
    for (const auto& row : rows_of(qr_code(text))) all += (all.empty() ? "" : "\n") + row;
    EXPECT_EQ(core::to_hex(core::sha256(all)), digest) << text.size();
  }
}

TEST(QrCode, IsNoneForALongText) { EXPECT_TRUE(qr_code(std::string(107, 'x')).empty()); }

TEST(QrCode, HasAMarginAndTwoRowsInALine) {
  const auto lines = qr_lines(qr_code("http://10.0.0.5"));
  EXPECT_EQ(lines.size(), 15U);
  EXPECT_EQ(lines.front(), "\x1b[38;5;16;48;5;231m" + std::string(29, ' ') + "\x1b[0m");
  EXPECT_TRUE(qr_lines({}).empty());
}

}  // namespace
}  // namespace league::tools
