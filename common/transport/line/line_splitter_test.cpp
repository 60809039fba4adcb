#include "common/transport/line/line_splitter.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

namespace league::transport::line {
namespace {

std::vector<std::string> lines_of(LineSplitter& splitter) {
  std::vector<std::string> out;
  while (auto line = splitter.next()) out.push_back(std::move(*line));
  return out;
}

using Lines = std::vector<std::string>;

TEST(LineSplitter, CutsAtLineFeedsAndCarriageReturns) {
  LineSplitter splitter(100);
  splitter.append("{\"a\":1}\n{}\r\n\n  \t\r\n[]\r\nrest");
  EXPECT_EQ(lines_of(splitter), (Lines{"{\"a\":1}", "{}", "[]"}));
  EXPECT_TRUE(splitter.has_partial());
  splitter.append(" of it\n");
  EXPECT_EQ(lines_of(splitter), (Lines{"rest of it"}));
  EXPECT_FALSE(splitter.has_partial());
}

TEST(LineSplitter, LimitsTheLineAndNotItsEnd) {
  LineSplitter splitter(4);
  splitter.append("1234\r\n1234\n");
  EXPECT_EQ(lines_of(splitter), (Lines{"1234", "1234"}));
  splitter.append("1234\r");
  EXPECT_EQ(lines_of(splitter), Lines{});
  EXPECT_FALSE(splitter.take_skipped());
  splitter.append("5");
  EXPECT_EQ(lines_of(splitter), Lines{});
  EXPECT_EQ(splitter.buffered(), 0U);
  splitter.append("\n{}\n");
  EXPECT_EQ(lines_of(splitter), Lines{});
  EXPECT_TRUE(splitter.take_skipped());
  EXPECT_EQ(lines_of(splitter), Lines{"{}"});
}

TEST(LineSplitter, ALongLineOfBlanksIsOneAsWell) {
  LineSplitter splitter(4);
  splitter.append("      \n{}\n");
  EXPECT_EQ(lines_of(splitter), Lines{});
  EXPECT_TRUE(splitter.take_skipped());
  EXPECT_EQ(lines_of(splitter), Lines{"{}"});
}

TEST(LineSplitter, ALongLineAtTheEndIsNamed) {
  for (const char* text : {R"({"id":7,"method":"a"})", R"({"id":7,"method":"a"}      )"}) {
    LineSplitter splitter(20);
    splitter.append(text);
    EXPECT_EQ(splitter.next(), std::nullopt);
    EXPECT_EQ(splitter.rest(), std::nullopt);
    auto skipped = splitter.take_skipped();
    ASSERT_TRUE(skipped);
    EXPECT_EQ(skipped->id, rpc::Id(7));
  }
}

TEST(LineSplitter, GivesTheRestAtTheEnd) {
  LineSplitter splitter(10);
  splitter.append("a\nlast\r");
  EXPECT_EQ(lines_of(splitter), (Lines{"a"}));
  EXPECT_EQ(splitter.rest(), "last");
  EXPECT_EQ(splitter.rest(), std::nullopt);
  splitter.append("  ");
  EXPECT_EQ(splitter.rest(), std::nullopt);
}

/// However the bytes come in, the lines are the same.
TEST(LineSplitter, PiecesDoNotMatter) {
  rc::check([] {
    auto lines = *rc::gen::container<Lines>(rc::gen::nonEmpty(
        rc::gen::container<std::string>(rc::gen::elementOf(std::string("ab{}\"1")))));
    std::string text;
    for (const auto& line : lines) text += line + (*rc::gen::arbitrary<bool>() ? "\r\n" : "\n");
    LineSplitter splitter(1000);
    Lines got;
    for (std::size_t at = 0; at < text.size();) {
      auto size = *rc::gen::inRange<std::size_t>(1, 9);
      splitter.append(std::string_view(text).substr(at, size));
      at += size;
      for (auto& line : lines_of(splitter)) got.push_back(std::move(line));
    }
    RC_ASSERT(got == lines);
    RC_ASSERT(splitter.buffered() == 0U);
  });
}

TEST(LineSplitter, PassesOverLongLines) {
  const std::string large =
      R"({"result":{"id":1,"text":")" + std::string(100, 'x') + R"("},"jsonrpc":"2.0","id":7})";
  for (std::size_t piece : {1UL, 10UL, 1000UL}) {
    LineSplitter splitter(60);
    const std::string text = "{}\n" + large + "\r\n[]\n" + large + "\n[1]\n";
    Lines lines;
    std::vector<rpc::FramePeek> skipped;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      splitter.append(text.substr(at, piece));
      for (;;) {
        if (auto line = splitter.next()) {
          lines.push_back(*line);
        } else if (auto peek = splitter.take_skipped()) {
          skipped.push_back(*peek);
        } else {
          break;
        }
      }
      EXPECT_LE(splitter.buffered(), 60U + piece) << "it keeps nothing of what it passes over";
    }
    EXPECT_EQ(lines, (Lines{"{}", "[]", "[1]"}));
    ASSERT_EQ(skipped.size(), 2U);
    EXPECT_EQ(skipped[1].kind, rpc::FrameKind::kResponse);
    EXPECT_EQ(skipped[1].id, rpc::Id(7));
    EXPECT_FALSE(splitter.has_partial());
  }
}

TEST(LineSplitter, ALongLineThatDoesNotEndIsPartial) {
  LineSplitter splitter(4);
  splitter.append("123456789");
  EXPECT_FALSE(splitter.next());
  EXPECT_FALSE(splitter.take_skipped());
  EXPECT_TRUE(splitter.has_partial()) << "its time is limited like that of any other";
  EXPECT_EQ(splitter.buffered(), 0U);
  EXPECT_FALSE(splitter.rest());
}

}  // namespace
}  // namespace league::transport::line
