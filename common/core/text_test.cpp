#include "common/core/text.h"

#include <gtest/gtest.h>

namespace league::core {
namespace {

TEST(ShownTest, IsPrintableAndShort) {
  EXPECT_EQ(shown("odd"), "odd");
  EXPECT_EQ(shown(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(shown(std::string(41, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(shown("\x1b[2J\n\xC3\x84\x7f\xff"), "?[2J?\xC3\x84??");
  EXPECT_EQ(shown("abc", 2), "ab...");
  EXPECT_EQ(shown("\u017dlu\u0165", 3), "\u017dl...");
  EXPECT_EQ(shown("\u017dlu\u0165", 5), "\u017dlu...") << "cut between characters";
  EXPECT_EQ(safe_text("\u017dlu\u0165\u202e\u2028"), "\u017dlu\u0165??");
}

TEST(LowerCaseTest, ChangesAsciiLettersOnly) {
  EXPECT_EQ(lower_case("HTTP://Example.ORG/@[`{"), "http://example.org/@[`{");
  EXPECT_EQ(lower_case("\xC3\x84"), "\xC3\x84");
  EXPECT_EQ(lower_case(""), "");
  EXPECT_EQ(upper_case("http://Example.org/@[`{\xC3\xA4"), "HTTP://EXAMPLE.ORG/@[`{\xC3\xA4");
}

TEST(IsAlphanumericTest, TakesAsciiOnly) {
  for (const char c : std::string_view("azAZ09")) EXPECT_TRUE(is_alphanumeric(c)) << c;
  for (const char c : std::string_view("@[`{/:_-\xC3")) EXPECT_FALSE(is_alphanumeric(c)) << c;
}

TEST(EscapeMarkupTest, LeavesNothingThatIsMarkup) {
  EXPECT_EQ(escape_markup("<a href=\"x\">'&amp;'</a>"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt;");
}

TEST(ExcerptTest, ShowsTheBeginningInWholeCharacters) {
  EXPECT_EQ(excerpt("short"), "short");
  EXPECT_EQ(excerpt(std::string(40, 'x')), std::string(40, 'x'));
  EXPECT_EQ(excerpt(std::string(41, 'x')), std::string(40, 'x') + "...");
  EXPECT_EQ(excerpt("ab\xC3\x84"
                    "cd",
                    3),
            "ab...");
  EXPECT_EQ(excerpt("ab\xC3\x84"
                    "cd",
                    4),
            "ab\xC3\x84...");
  EXPECT_EQ(excerpt("\x80\x80\x80", 2), "...") << "no UTF-8 at all";
  EXPECT_EQ(excerpt("", 0), "");
}

TEST(Text, EveryOccurrenceIsReplaced) {
  EXPECT_EQ(replaced("{a} and {a}", "{a}", "b"), "b and b");
  EXPECT_EQ(replaced("aa", "a", "aa"), "aaaa") << "what was put in is not replaced again";
  EXPECT_EQ(replaced("text", "", "x"), "text");
}

}  // namespace
}  // namespace league::core
